// Sets a processor's floating-point control register to IEEE defaults for as long as it lives: round to nearest even,
// subnormals kept, no traps; on ARM every NaN that arithmetic makes is the one NaN, as lanes_neon.h wants it. A host
// program or a board's start-up code may have chosen otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace heed {

// The register: its type, what it holds during a run, and how it is read and written.
#if defined(__SSE__)

using FloatControlWord = uint32_t;
constexpr FloatControlWord kIeeeFloats = 0x1f80;  // all exceptions masked
inline FloatControlWord read_float_control() { return _mm_getcsr(); }
inline void write_float_control(FloatControlWord word) { _mm_setcsr(word); }

#elif defined(__aarch64__)

using FloatControlWord = uint64_t;
constexpr FloatControlWord kIeeeFloats = 1u << 25;  // the default NaN
inline FloatControlWord read_float_control() {
  FloatControlWord word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
inline void write_float_control(FloatControlWord word) { asm volatile("msr fpcr, %0" : : "r"(word)); }

#elif defined(__arm__) && defined(__ARM_FP)

using FloatControlWord = uint32_t;
constexpr FloatControlWord kIeeeFloats = 1u << 25;  // the default NaN
inline FloatControlWord read_float_control() {
  FloatControlWord word;
  asm volatile("vmrs %0, fpscr" : "=r"(word));
  return word;
}
inline void write_float_control(FloatControlWord word) { asm volatile("vmsr fpscr, %0" : : "r"(word)); }

#else  // none that heed knows of

using FloatControlWord = uint32_t;
constexpr FloatControlWord kIeeeFloats = 0;
inline FloatControlWord read_float_control() { return kIeeeFloats; }
inline void write_float_control(FloatControlWord) {}

#endif

class FloatControl {
 public:
  FloatControl() : saved_(read_float_control()) { write_float_control(kIeeeFloats); }
  ~FloatControl() { write_float_control(saved_); }
  FloatControl(const FloatControl&) = delete;
  FloatControl& operator=(const FloatControl&) = delete;

 private:
  FloatControlWord saved_;
};

}  // namespace heed
