// The part of the vocabulary of lanes.h that xsimd gives on every architecture with the same bits.
// SPDX-License-Identifier: Apache-2.0
//
// Only load, store, + - *, comparisons, select, bit operations and conversions come from xsimd: its division and
// square root are estimates on some architectures, and its conversions from and to bytes go through memory.
#pragma once
#include <xsimd/xsimd.hpp>

#include "kernels/simd/lanes.h"

namespace heed::simd {

template <class Arch>
struct XsimdLanes {
  using F = xsimd::batch<float, Arch>;
  using I = xsimd::batch<int32_t, Arch>;
  using M = xsimd::batch_bool<float, Arch>;
  static constexpr uint32_t kLanes = F::size;

  static F set(float x) { return F(x); }
  static I set(int32_t x) { return I(x); }
  static F load(const float* p) { return F::load_unaligned(p); }
  static I load(const int32_t* p) { return I::load_unaligned(p); }
  static void store(float* p, F v) { v.store_unaligned(p); }
  static void store(int32_t* p, I v) { v.store_unaligned(p); }
  static F select(M m, F a, F b) { return xsimd::select(m, a, b); }

  static I bits(F x) { return xsimd::bitwise_cast<I>(x); }
  static F from_bits(I i) { return xsimd::bitwise_cast<F>(i); }
  template <int n>
  static I shift_left(I i) {
    return i << n;
  }
  template <int n>
  static I shift_right(I i) {
    return i >> n;
  }
  static I subtract(I a, I b) { return a - b; }
  static I bit_and(I a, I b) { return a & b; }
  static I bit_or(I a, I b) { return a | b; }
  static F abs(F x) { return from_bits(bits(x) & set(0x7fffffff)); }
  static F to_float(I i) { return xsimd::to_float(i); }
};

}  // namespace heed::simd
