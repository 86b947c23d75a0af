// The vocabulary of lanes.h for one lane: plain C++, for every processor.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "kernels/simd/lanes.h"

namespace heed::simd {

struct ScalarLanes {
  static constexpr uint32_t kLanes = 1;
  static constexpr uint32_t kProductRows = 1;  // register tile of multiply_f32
  static constexpr uint32_t kProductPanels = 1;
  static constexpr uint32_t kChains = 1;  // vectors side by side in long chains
  static constexpr bool kWeaves = false;
  static constexpr bool kFoldsFour = false;
  using F = float;
  using I = int32_t;
  using M = bool;

  static F set(float x) { return x; }
  static I set(int32_t x) { return x; }
  static F load(const float* p) { return *p; }
  static I load(const int32_t* p) { return *p; }
  static void store(float* p, F v) { *p = v; }
  static void store(int32_t* p, I v) { *p = v; }
  static F load_part(const float* p, uint32_t count) { return count ? *p : 0.0f; }
  static I load_part(const int32_t* p, uint32_t count) { return count ? *p : 0; }
  static void store_part(float* p, F v, uint32_t count) {
    if (count) *p = v;
  }
  static M lanes_between(int32_t lo, int32_t hi) { return lo <= 0 && hi > 0; }

  static F select(M m, F a, F b) { return m ? a : b; }
  static F max(F a, F b) { return a > b ? a : b; }
  static F at_least(F x, float low) { return low > x ? low : x; }
  static F at_most(F x, float high) { return high < x ? high : x; }
  static F abs(F x) { return from_bits(bits(x) & 0x7fffffff); }
  static F least_magnitude(F x, float limit) { return at_most(abs(x), limit); }
  static F storable(F x) { return x != x ? One<ScalarLanes>::nan() : abs(x) < kLeastStored ? 0.0f : x; }
  static F one_nan(F x) { return x; }
  static F divide(F a, F b) { return a / b; }
  static F sqrt(F x) { return std::sqrt(x); }

  static I subtract(I a, I b) { return static_cast<I>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b)); }
  static I bits(F x) { return One<ScalarLanes>::bits(x); }
  static F from_bits(I i) { return One<ScalarLanes>::from_bits(i); }
  template <int n>
  static I shift_left(I i) {
    return static_cast<I>(static_cast<uint32_t>(i) << n);
  }
  template <int n>
  static I shift_right(I i) {
    return i >> n;
  }
  static I bit_and(I a, I b) { return a & b; }
  static I bit_or(I a, I b) { return a | b; }
  static F to_float(I i) { return static_cast<F>(i); }
  static I nearest(F x) { return One<ScalarLanes>::nearest(x); }
  static I max_signed(I a, I b) { return a > b ? a : b; }
  static I max_unsigned(I a, I b) { return static_cast<uint32_t>(a) > static_cast<uint32_t>(b) ? a : b; }

  static int8_t saturated(I i) { return static_cast<int8_t>(i < -128 ? -128 : i > 127 ? 127 : i); }
  static void store_bytes(uint8_t* p, uint8_t flip, I i) { *p = static_cast<uint8_t>(saturated(i)) ^ flip; }
  static void store_bytes(uint8_t* p, uint8_t flip, I a, I b, I c, I d) {
    store_bytes(p, flip, a);
    store_bytes(p + 1, flip, b);
    store_bytes(p + 2, flip, c);
    store_bytes(p + 3, flip, d);
  }
  // A NaN's low byte is 0 after `nearest`.
  static void store_weights(uint8_t* p, I i) { *p = static_cast<uint8_t>(i); }
  static void store_weights(uint8_t* p, I a, I b, I c, I d) {
    store_weights(p, a);
    store_weights(p + 1, b);
    store_weights(p + 2, c);
    store_weights(p + 3, d);
  }
  static I load_bytes(const int8_t* p) { return *p; }
  // Exact. Subnormals are normal in f32: their mantissa is an integer times 2^-24.
  static F load_half(const uint16_t* p) {
    const int32_t half = *p;
    const int32_t magnitude = half & 0x7fff;
    const int32_t sign = shift_left<16>(half & 0x8000);
    if (magnitude < 0x0400) return from_bits(bits(static_cast<float>(magnitude) * 0x1p-24f) | sign);
    if (magnitude < 0x7c00) return from_bits(((magnitude << 13) + 0x38000000) | sign);
    return from_bits((magnitude << 13) | 0x7f800000 | (magnitude > 0x7c00 ? 0x00400000 : 0) | sign);
  }

  static float fold_add(F v) { return v; }
  static float fold_max(F v) { return v; }
  static int32_t fold_max_signed(I v) { return v; }
  static int32_t fold_max_unsigned(I v) { return v; }
  static int32_t fold_sum(I v) { return v; }
};

}  // namespace heed::simd
