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

template <class L>
void normalize_rows(const NormalizeRows& args) {
  const float count = static_cast<float>(args.cols);
  for (uint32_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    float* out = args.out + r * args.out_stride;
    float mean = 0.0f;
    if (args.function == NormFunction::kLayer) {
      mean = sum_over<L>(args.cols, [&](auto lanes, uint32_t c) [[gnu::always_inline]] { return lanes.load(in + c); }) / count;
    }
    const auto centre = L::set(mean);
    const float squares = sum_over<L>(args.cols, [&](auto lanes, uint32_t c) [[gnu::always_inline]] {
      const auto x = lanes.load(in + c) - centre;
      return lanes.keep(x * x);
    });
    const auto inverse = L::set(1.0f / square_root<L>(squares / count + args.epsilon));
    each_vector<L>(args.cols, [&](auto lanes, uint64_t c) [[gnu::always_inline]] {
      auto y = ((lanes.load(in + c) - centre) * inverse) * lanes.load(args.gain + c);
      if (args.shift) y = y + lanes.load(args.shift + c);
      lanes.store(out + c, y);
    });
  }
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
    each_vector<L>(args.cols, [&](auto lanes, uint64_t c) [[gnu::always_inline]] {
      tops = L::max(lanes.keep(lanes.load(in + c), least), tops);
    });
    const float top = L::fold_max(tops);
    const F base = L::set(top == least ? 0.0f : top);
    const auto power = [&](F x) [[gnu::always_inline]] { return exp2<L>((x - base) * L::set(kLog2E)); };
    const F sum = L::set(sum_over<L>(args.cols, [&](auto lanes, uint32_t c) [[gnu::always_inline]] {
      return lanes.keep(power(lanes.load(in + c)));
    }));
    each_vector<L>(args.cols, [&](auto lanes, uint64_t c) [[gnu::always_inline]] {
      lanes.store(out + c, L::select(sum == zero, zero, L::divide(power(lanes.load(in + c)), sum)));
    });
  }
}

template <class L>
void l2_normalize_rows(const Rows& args) {
  for (uint32_t r = 0; r < args.rows; ++r) {
    const float* in = args.in + r * args.in_stride;
    float* out = args.out + r * args.out_stride;
    const auto length = L::set(square_root<L>(sum_over<L>(args.cols, [&](auto lanes, uint32_t c) [[gnu::always_inline]] {
      const auto x = lanes.load(in + c);
      return x * x;
    })));
    const auto zero = L::set(0.0f);
    each_vector<L>(args.cols, [&](auto lanes, uint64_t c) [[gnu::always_inline]] {
      lanes.store(out + c, L::select(length == zero, zero, L::divide(lanes.load(in + c), length)));
    });
  }
}

}  // namespace heed::simd
