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

  float centre[kRows] = {}, inverse[kRows];
  if (args.function == NormFunction::kLayer) {
    const auto sums = sum_rows<L, kRows>(
        cols, [&](auto lanes, uint32_t r, size_t c)
                  __attribute__((always_inline)) { return lanes.load(in + r * in_stride + c); });
    for (uint32_t r = 0; r < kRows; ++r) centre[r] = sums.of[r] / count;
  }
  const auto squares = sum_rows<L, kRows>(
      cols, [&](auto lanes, uint32_t r, size_t c) __attribute__((always_inline)) {
        const F x = lanes.load(in + r * in_stride + c) - L::set(centre[r]);
        return lanes.keep(x * x);
      });
  for (uint32_t r = 0; r < kRows; ++r) inverse[r] = 1.0f / square_root<L>(squares.of[r] / count + args.epsilon);
  each_vector<L>(
      cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
        const F g = lanes.load(gain + c), s = shift ? lanes.load(shift + c) : L::set(0.0f);
#pragma GCC unroll 4
        for (uint32_t r = 0; r < kRows; ++r) {
          const F x = lanes.load(in + r * in_stride + c) - L::set(centre[r]);
          lanes.store(out + r * out_stride + c, (x * L::set(inverse[r])) * g + s);
        }
      });
}

template <class L>
void normalize_rows(const NormalizeRows& args) {
  uint32_t r = 0;
  for (; !kForSize && L::kLanes > 1 && r + 4 <= args.rows; r += 4) normalize_some<L, 4>(args, r);
  for (; r < args.rows; ++r) normalize_some<L, 1>(args, r);
}

// The greatest of a row; -inf where there are only NaNs.
template <class L>
[[gnu::always_inline]] inline float greatest_of(const float* in, uint32_t cols) {
  const float least = -One<L>::infinity();
  typename L::F tops = L::set(least);
  each_vector<L>(
      cols, [&](auto lanes, size_t c)
                __attribute__((always_inline)) { tops = L::max(lanes.keep(lanes.load(in + c), least), tops); });
  return L::fold_max(tops);
}

// The sum of 2^((x - base) * log2 e) over a row.
template <class L>
[[gnu::always_inline]] inline float sum_of_powers(const float* in, uint32_t cols, float base) {
  return sum_row<L>(
      cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
        return lanes.keep(exp2<L>((lanes.load(in + c) - L::set(base)) * L::set(kLog2E)));
      });
}

// e^(x - max) / sum of those; a row of -inf gives zeros.
template <class L>
void softmax_rows(const Rows& args) {
  using F = typename L::F;
  for (uint32_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    float* out = args.out + r * args.out_stride;
    const float top = greatest_of<L>(in, args.cols);
    const float base = top == -One<L>::infinity() ? 0.0f : top;
    const F zero = L::set(0.0f);
    const F sum = L::set(sum_of_powers<L>(in, args.cols, base));
    each_vector<L>(
        args.cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
          const F power = exp2<L>((lanes.load(in + c) - L::set(base)) * L::set(kLog2E));
          lanes.store(out + c, L::select(sum == zero, zero, L::divide(power, sum)));
        });
  }
}

template <class L>
void log_sum_row(const LogSumRow& args) {
  constexpr float kLn2 = 0x1.62e430p-1f;
  using F = typename L::F;
  const float top = greatest_of<L>(args.in, args.cols);
  const F logarithm = log2<L>(L::set(sum_of_powers<L>(args.in, args.cols, top)));
  alignas(64) float all[L::kLanes];
  L::store(all, L::storable(L::set(top) + L::set(kLn2) * logarithm));
  *args.out = all[0];
}

template <class L>
void l2_normalize_rows(const Rows& args) {
  for (uint32_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    float* out = args.out + r * args.out_stride;
    const auto length = L::set(square_root<L>(sum_row<L>(
        args.cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
          const auto x = lanes.load(in + c);
          return x * x;
        })));
    const auto zero = L::set(0.0f);
    each_vector<L>(
        args.cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
          lanes.store(out + c, L::select(length == zero, zero, L::divide(lanes.load(in + c), length)));
        });
  }
}

}  // namespace heed::simd
