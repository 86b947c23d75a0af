// Whole rows: layer and RMS norm, softmax, L2 norm.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "kernels/simd/math.h"

namespace heed::simd {

template <class L>
[[gnu::always_inline]] inline float square_root(float x) {
  alignas(64) float all[L::kLanes];
  L::store(all, L::sqrt(L::set(x)));
  return all[0];
}

// kRows rows from row `first` on.
template <class L, uint32_t kRows>
void normalize_some(const NormalizeRows& args, uint32_t first) {
  using F = typename L::F;
  const float* in = args.in + first * args.in_stride;
  float* out = args.out + first * args.out_stride;
  const float *gain = args.gain, *shift = args.shift;
  const uint64_t in_stride = args.in_stride, out_stride = args.out_stride;
  const uint32_t cols = args.cols;
  const float count = static_cast<float>(cols);

  F centre[kRows], inverse[kRows];
  for (F& c : centre) c = L::set(0.0f);
  if (args.function == NormFunction::kLayer) {
    const auto sums = sum_rows<L, kRows>(
        cols, [&](auto lanes, uint32_t r, uint32_t c)
                  __attribute__((always_inline)) { return lanes.load(in + r * in_stride + c); });
    for (uint32_t r = 0; r < kRows; ++r) centre[r] = L::set(sums.of[r] / count);
  }
  const auto squares = sum_rows<L, kRows>(
      cols, [&](auto lanes, uint32_t r, uint32_t c) __attribute__((always_inline)) {
        const F x = lanes.load(in + r * in_stride + c) - centre[r];
        return lanes.keep(x * x);
      });
  for (uint32_t r = 0; r < kRows; ++r) inverse[r] = L::set(1.0f / square_root<L>(squares.of[r] / count + args.epsilon));
  each_vector<L>(
      cols, [&](auto lanes, uint64_t c) __attribute__((always_inline)) {
        const F g = lanes.load(gain + c), s = shift ? lanes.load(shift + c) : L::set(0.0f);
#pragma GCC unroll 4
        for (uint32_t r = 0; r < kRows; ++r) {
          const F x = lanes.load(in + r * in_stride + c) - centre[r];
          lanes.store(out + r * out_stride + c, (x * inverse[r]) * g + s);
        }
      });
}

template <class L>
void normalize_rows(const NormalizeRows& args) {
  uint32_t r = 0;
  for (; L::kLanes > 1 && r + 4 <= args.rows; r += 4) normalize_some<L, 4>(args, r);
  for (; r < args.rows; ++r) normalize_some<L, 1>(args, r);
}

// e^(x - max) / sum of those; a row of -inf gives zeros.
template <class L>
void softmax_rows(const Rows& args) {
  using F = typename L::F;
  for (uint32_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    float* out = args.out + r * args.out_stride;
    const float least = -One<L>::infinity();
    const F zero = L::set(0.0f);
    F tops = L::set(least);
    each_vector<L>(
        args.cols, [&](auto lanes, uint64_t c)
                       __attribute__((always_inline)) { tops = L::max(lanes.keep(lanes.load(in + c), least), tops); });
    const float top = L::fold_max(tops);
    const F base = L::set(top == least ? 0.0f : top);
    const auto power = [&](F x) __attribute__((always_inline)) { return exp2<L>((x - base) * L::set(kLog2E)); };
    const F sum = L::set(sum_row<L>(
        args.cols, [&](auto lanes, uint32_t c)
                       __attribute__((always_inline)) { return lanes.keep(power(lanes.load(in + c))); }));
    each_vector<L>(
        args.cols, [&](auto lanes, uint64_t c) __attribute__((always_inline)) {
          lanes.store(out + c, L::select(sum == zero, zero, L::divide(power(lanes.load(in + c)), sum)));
        });
  }
}

template <class L>
void l2_normalize_rows(const Rows& args) {
  for (uint32_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    float* out = args.out + r * args.out_stride;
    const auto length = L::set(square_root<L>(sum_row<L>(
        args.cols, [&](auto lanes, uint32_t c) __attribute__((always_inline)) {
          const auto x = lanes.load(in + c);
          return x * x;
        })));
    const auto zero = L::set(0.0f);
    each_vector<L>(
        args.cols, [&](auto lanes, uint64_t c) __attribute__((always_inline)) {
          lanes.store(out + c, L::select(length == zero, zero, L::divide(lanes.load(in + c), length)));
        });
  }
}

}  // namespace heed::simd
