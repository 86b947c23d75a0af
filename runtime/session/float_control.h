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

#if defined(__SSE__)

class FloatControl {
 public:
  FloatControl() : saved_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FloatControl() { _mm_setcsr(saved_); }
  FloatControl(const FloatControl&) = delete;
  FloatControl& operator=(const FloatControl&) = delete;

 private:
  static constexpr uint32_t kDefault = 0x1f80;  // all exceptions masked
  uint32_t saved_;
};

#elif defined(__aarch64__)

class FloatControl {
 public:
  FloatControl() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    write(kDefaultNan);
  }
  ~FloatControl() { write(saved_); }
  FloatControl(const FloatControl&) = delete;
  FloatControl& operator=(const FloatControl&) = delete;

 private:
  static constexpr uint64_t kDefaultNan = 1u << 25;
  static void write(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
  uint64_t saved_;
};

#elif defined(__arm__) && defined(__ARM_FP)

class FloatControl {
 public:
  FloatControl() {
    asm volatile("vmrs %0, fpscr" : "=r"(saved_));
    write(kDefaultNan);
  }
  ~FloatControl() { write(saved_); }
  FloatControl(const FloatControl&) = delete;
  FloatControl& operator=(const FloatControl&) = delete;

 private:
  static constexpr uint32_t kDefaultNan = 1u << 25;
  static void write(uint32_t value) { asm volatile("vmsr fpscr, %0" : : "r"(value)); }
  uint32_t saved_;
};

#else

// No control register that heed knows of.
class FloatControl {
 public:
  FloatControl() {}
  ~FloatControl() {}
  FloatControl(const FloatControl&) = delete;
  FloatControl& operator=(const FloatControl&) = delete;
};

#endif

}  // namespace heed
