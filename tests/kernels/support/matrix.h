// Rows of floats with poison between them and unreadable pages around, and the comparison of all instruction sets.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/support/guarded.h"
#include "kernels/support/isas.h"

namespace heed::tests {

constexpr uint32_t kPoisonBits = 0xffc0dead;  // a NaN that no kernel makes

inline uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr float kInf = std::numeric_limits<float>::infinity();
inline const float kNan = float_of(0x7fc00000);

// [rows, cols], all poison at first. The last row ends at an unreadable page, so that rows begin at every alignment.
class Matrix {
 public:
  Matrix(uint32_t rows, uint32_t cols, uint32_t gap = 0)
      : rows_(rows), cols_(cols), stride_(cols + gap), block_(elems()) {
    for (size_t i = 0; i < elems(); ++i) block_[i] = float_of(kPoisonBits);
  }
  float* get() const { return block_.get(); }
  float* row(uint32_t r) const { return get() + size_t{r} * stride_; }
  float& at(uint32_t r, uint32_t c) const { return row(r)[c]; }
  uint32_t rows() const { return rows_; }
  uint32_t cols() const { return cols_; }
  uint32_t stride() const { return stride_; }
  size_t elems() const { return rows_ ? size_t{rows_ - 1} * stride_ + cols_ : 0; }

  template <class Next>
  Matrix& fill(Next next) {
    for (uint32_t r = 0; r < rows_; ++r) {
      for (uint32_t c = 0; c < cols_; ++c) at(r, c) = next();
    }
    return *this;
  }
  bool gaps_intact() const {
    for (size_t i = 0; i < elems(); ++i) {
      if (i % stride_ >= cols_ && bits_of(get()[i]) != kPoisonBits) return false;
    }
    return true;
  }

 private:
  uint32_t rows_, cols_, stride_;
  Guarded<float> block_;
};

// Numbers for inputs: normally distributed, or every kind of float in between.
class Numbers {
 public:
  explicit Numbers(uint32_t seed, float size = 1.0f) : random_(seed), normal_(0.0f, size) {}
  float operator()() { return normal_(random_); }
  int32_t integer(int32_t least, int32_t most) { return std::uniform_int_distribution<int32_t>(least, most)(random_); }
  // One in eight is a NaN (also negative, signalling and with a payload), infinite, huge, subnormal, tiny or -0.
  // NEON on 32-bit ARM takes subnormals for 0, which is why none is ever stored: there, the least that is instead.
  float any() {
#if defined(__arm__)
    constexpr uint32_t kSubnormal = 0x26000000, kNegative = 0xa6000000, kTiny = 0x26000001;
#else
    constexpr uint32_t kSubnormal = 0x00000001, kNegative = 0x807fffff, kTiny = 0x25ffffff;
#endif
    static const uint32_t kSpecial[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff812345, 0x7f800000,
                                        0xff800000, 0x7f7fffff, 0xff7fffff, kSubnormal, kNegative,
                                        kTiny,      0xa6000000, 0x80000000, 0x00000000};
    return random_() % 8 ? normal_(random_) : float_of(kSpecial[random_() % (sizeof kSpecial / sizeof *kSpecial)]);
  }
  // The same without NaNs and infinities.
  float finite() {
    for (;;) {
      const float x = any();
      if (std::isfinite(x)) return x;
    }
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<float> normal_;
};

// What a kernel wrote, byte by byte.
class Written {
 public:
  template <class T>
  Written& add(const T* data, size_t count) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + count * sizeof(T));
    return *this;
  }
  Written& add(const Matrix& m) { return add(m.get(), m.elems()); }
  bool operator==(const Written& other) const { return bytes_ == other.bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// run(table) must write the same on every instruction set of this machine as on ref.
template <class Run>
void same_bits(Run run) {
  const Kernels* ref = find_kernels("ref");
  const std::vector<const Kernels*> tables = runnable_tables();
  const Written expected = run(*ref);
  for (const Kernels* table : tables) {
    if (table == ref && tables.size() > 1) continue;  // where it is alone, it writes the same twice
    INFO(table->isa);
    REQUIRE((run(*table) == expected));
  }
}

// Whether this may be stored: no magnitude below 2^-51 but +0, no NaN but one.
inline bool storable(float x) {
  if (std::isnan(x)) return bits_of(x) == 0x7fc00000;
  return bits_of(x) == 0 || std::fabs(x) >= kLeastStored;
}

// Every length up to twice the widest vector and more, and a few large ones.
inline std::vector<uint32_t> lengths() {
  std::vector<uint32_t> all;
  for (uint32_t n = 0; n <= 40; ++n) all.push_back(n);
  for (uint32_t n : {47, 48, 49, 63, 64, 65, 79, 96, 127, 128, 129, 384, 1000, 1536}) all.push_back(n);
  return all;
}

}  // namespace heed::tests
