// The vocabulary that every float kernel is written in, and what is built from it for all instruction sets alike.
// SPDX-License-Identifier: Apache-2.0
//
// A class L (ScalarLanes, Avx2Lanes, NeonLanes, ...) gives a vector of L::kLanes floats and everything done with it:
//
//   F, I, M            floats, int32s, and a truth value for each lane
//   + - * on F and I; < > <= == on F, false where one side is a NaN
//   subtract(a, b) on I wraps around, for lanes that may hold anything
//   set(x)             x in every lane
//   load(p), store(p, v); load_part(p, n), store_part(p, v, n): the first n lanes, missing ones are 0
//   lanes_between(lo, hi): lanes i with lo <= i < hi
//   select(m, a, b)
//   max(a, b): the greater; b where a is a NaN; b never is one
//   at_least(x, low), at_most(x, high): bounds that are numbers; x where x is a NaN
//   least_magnitude(x, limit) = min(|x|, limit), any of its two values for a NaN
//   storable(x): what may be stored: +0 for magnitudes below 2^-51, 0x7fc00000 for a NaN that arithmetic made
//   one_nan(x): x, as if arithmetic had made it: for what is stored as it was loaded
//   Of two zeros max, at_least and at_most may give either.
//   divide, sqrt       the IEEE ones
//   bits, from_bits    reinterpreted; shift_left<n>, shift_right<n> (arithmetic), bit_and, bit_or on I
//   to_float(I); nearest(F): to nearest even for magnitudes below 2^22, else any integer
//   max_signed, max_unsigned on I
//   store_bytes(p, flip, I): saturated to int8, each byte xor flip; the same for four vectors side by side
//   store_groups(p, apart, I, I, I, I), where there are 4 lanes or more: saturated to int8, lanes 0 to 3 of all four as 16 bytes
//   at p, lanes 4 to 7 at p + apart, and so on
//   store_weights(p, I): 0 .. 127 to bytes, what `nearest` made of a NaN to 0; the same for four
//   store_woven(p, zero, I): where kWeaves says so, for 16 lanes of magnitudes below 2^14: each plus zero, saturated to
//   int8, the second 8 bytes at p + 32
//   load_bytes(p): int8 to I; load_half(p): f16 to F; each with load_*_part
//   fold_add(F), fold_max(F): halves are combined until one lane is left; fold_max_signed, fold_max_unsigned, fold_sum
//   on I
//   kFoldsFour: there are fold_add_four, fold_max_four, fold_max_signed_four, fold_max_unsigned_four and fold_sum_four, which fold
//   four vectors together
//
// Everything below carries L in its name: one program holds it several times, compiled for different processors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/kernels.h"

namespace heed::simd {

constexpr uint32_t kSumLanes = 16;  // lanes of a sum over a row; part of the promise of same bits
constexpr int32_t kNanBits = 0x7fc00000;
// Builds for size have each loop once, where others have it for several rows or vectors side by side too.
#ifdef __OPTIMIZE_SIZE__
constexpr bool kForSize = true;
#else
constexpr bool kForSize = false;
#endif

// Arithmetic on the few values that a row has one of.
template <class L>
struct One {
  static int32_t bits(float x) {
    int32_t i;
    std::memcpy(&i, &x, sizeof i);
    return i;
  }
  static float from_bits(int32_t i) {
    float x;
    std::memcpy(&x, &i, sizeof x);
    return x;
  }
  static float nan() { return from_bits(kNanBits); }
  static float infinity() { return from_bits(0x7f800000); }
  // To nearest even; magnitude at most 2^22.
  static int32_t nearest(float x) { return bits(x + 0x1.8p23f) - bits(0x1.8p23f); }
  static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
};

// All lanes of a vector.
template <class L>
struct Whole {
  using F = typename L::F;
  F load(const float* p) const { return L::load(p); }
  typename L::I load(const int32_t* p) const { return L::load(p); }
  F load_half(const uint16_t* p) const { return L::load_half(p); }
  typename L::I load_bytes(const int8_t* p) const { return L::load_bytes(p); }
  void store(float* p, F v) const { L::store(p, L::storable(v)); }
  F keep(F v, float = 0.0f) const { return v; }
};

// The first `count` lanes of a vector; nothing past them is read or written.
template <class L>
struct Part {
  using F = typename L::F;
  uint32_t count;
  F load(const float* p) const { return L::load_part(p, count); }
  typename L::I load(const int32_t* p) const { return L::load_part(p, count); }
  F load_half(const uint16_t* p) const {
    uint16_t all[L::kLanes] = {};
    std::memcpy(all, p, count * sizeof(uint16_t));
    return L::load_half(all);
  }
  typename L::I load_bytes(const int8_t* p) const {
    int8_t all[L::kLanes] = {};
    std::memcpy(all, p, count);
    return L::load_bytes(all);
  }
  void store(float* p, F v) const { L::store_part(p, L::storable(v), count); }
  // With `missing` in the lanes that are not there.
  F keep(F v, float missing = 0.0f) const {
    return L::select(L::lanes_between(0, static_cast<int32_t>(count)), v, L::set(missing));
  }
};

// body(lanes, i) for each vector of `n` elements, lanes being Whole or Part. (Indices that go to addresses have their size:
// shorter ones are extended again for each access.)
template <class L, class Body>
[[gnu::always_inline]] inline void each_vector(size_t n, Body body) {
  size_t i = 0;
  for (; i + L::kLanes <= n; i += L::kLanes) body(Whole<L>{}, i);
  if (L::kLanes > 1 && i < n) body(Part<L>{static_cast<uint32_t>(n - i)}, i);
}

// out[r] = fold(v[r]) for kRows vectors: in fours where lanes have that.
#define HEED_FOLD_ROWS(fold, V, T)                                                                          \
  template <class L, uint32_t kRows>                                                                        \
  [[gnu::always_inline]] inline void fold##_rows(const typename L::V (&v)[kRows], T* out) {                 \
    if constexpr (L::kFoldsFour && kRows == 4) {                                                            \
      L::fold##_four(v, out);                                                                               \
    } else {                                                                                                \
      for (uint32_t r = 0; r < kRows; ++r) out[r] = L::fold(v[r]);                                          \
    }                                                                                                       \
  }
HEED_FOLD_ROWS(fold_add, F, float)
HEED_FOLD_ROWS(fold_max, F, float)
HEED_FOLD_ROWS(fold_max_signed, I, int32_t)
HEED_FOLD_ROWS(fold_max_unsigned, I, int32_t)
HEED_FOLD_ROWS(fold_sum, I, int32_t)
#undef HEED_FOLD_ROWS

// How many rows of a tile are folded together.
template <class L>
constexpr uint32_t kFoldRows = L::kFoldsFour ? 4 : 1;

// A sum over a row: element i goes to lane i mod 16, in order; then 8-4-2-1.
template <class L>
struct Sum {
  using F = typename L::F;
  static constexpr uint32_t kVectors = kSumLanes / L::kLanes;
  F lane[kVectors];

  Sum() {
    for (F& v : lane) v = L::set(0.0f);
  }
  // What is left for fold_add.
  F one_vector() {
    if constexpr (kVectors == 2) {
      lane[0] = lane[0] + lane[1];
    } else {
      for (uint32_t half = kVectors / 2; half > 0; half /= 2) {
        for (uint32_t u = 0; u < half; ++u) lane[u] = lane[u] + lane[u + half];
      }
    }
    return lane[0];
  }
  float total() { return L::fold_add(one_vector()); }
};

// Sums of kRows rows side by side, so that additions of one need not wait for those of another.
template <class L, uint32_t kRows>
struct RowSums {
  float of[kRows];
};

// Sums over i < n of term(lanes, row, i); term gives zeros where lanes are missing.
template <class L, uint32_t kRows, class Term>
[[gnu::always_inline]] inline RowSums<L, kRows> sum_rows(size_t n, Term term) {
  constexpr uint32_t k = L::kLanes, kVectors = Sum<L>::kVectors;
  Sum<L> sums[kRows];
  size_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
#pragma GCC unroll 2
    for (uint32_t u = 0; u < kVectors; ++u) {
#pragma GCC unroll 4
      for (uint32_t r = 0; r < kRows; ++r) sums[r].lane[u] = sums[r].lane[u] + term(Whole<L>{}, r, i + u * k);
    }
  }
  RowSums<L, kRows> totals;
#pragma GCC unroll 4
  for (uint32_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (uint32_t u = 0; u < kVectors; ++u) {
      const size_t at = i + u * k;
      if (at + k <= n) {
        sums[r].lane[u] = sums[r].lane[u] + term(Whole<L>{}, r, at);
      } else if (k > 1 && at < n) {
        sums[r].lane[u] = sums[r].lane[u] + term(Part<L>{static_cast<uint32_t>(n - at)}, r, at);
      }
    }
    totals.of[r] = sums[r].total();
  }
  return totals;
}

template <class L, class Term>
[[gnu::always_inline]] inline float sum_row(size_t n, Term term) {
  return sum_rows<L, 1>(
             n, [&](auto lanes, uint32_t, size_t i) __attribute__((always_inline)) { return term(lanes, i); })
      .of[0];
}

}  // namespace heed::simd
