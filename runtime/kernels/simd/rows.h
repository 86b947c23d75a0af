// Element by element: activations, sums and products, rows of tables, pooling over rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/math.h"
#include "quant/panel.h"

namespace heed::simd {

template <class L>
void activate(const Activate& args) {
  const ActivateBlock<L> activate_block = activate_block_for<L>(args.function);
  alignas(64) float block[kActivationBlock];
  for (uint64_t first = 0; first < args.count; first += kActivationBlock) {
    const float* in = args.in + first;
    float* out = args.out + first;
    const uint64_t count = args.count - first < kActivationBlock ? args.count - first : kActivationBlock;
    each_vector<L>(
        count, [&](auto lanes, size_t i) __attribute__((always_inline)) { L::store(block + i, L::one_nan(lanes.load(in + i))); });
    if (activate_block) activate_block(block, static_cast<uint32_t>(round_up(count, L::kLanes)));
    each_vector<L>(
        count, [&](auto lanes, size_t i)
                   __attribute__((always_inline)) { lanes.store(out + i, L::load(block + i)); });
  }
}

template <class L>
void add(const Combine& args) {
  const Combine c = args;
  each_vector<L>(
      c.count, [&](auto lanes, size_t i) __attribute__((always_inline)) {
        lanes.store(c.out + i, lanes.load(c.a + i) + lanes.load(c.b + i));
      });
}

template <class L>
void multiply(const Combine& args) {
  const Combine c = args;
  each_vector<L>(
      c.count, [&](auto lanes, size_t i) __attribute__((always_inline)) {
        lanes.store(c.out + i, lanes.load(c.a + i) * lanes.load(c.b + i));
      });
}

template <class L>
void mix(const Mix& args) {
  const Mix m = args;
  each_vector<L>(
      m.count, [&](auto lanes, size_t i) __attribute__((always_inline)) {
        const auto a = lanes.load(m.a + i);
        lanes.store(m.out + i, a + lanes.load(m.weight + i) * (lanes.load(m.b + i) - a));
      });
}

template <class L, class Load>
[[gnu::always_inline]] inline void look_up(const LookUpRow& args, Load load) {
  const auto scale = L::set(args.scale);
  float* out = args.out;
  const bool add = args.add;
  each_vector<L>(
      args.cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
        const auto x = load(lanes, c) * scale;
        lanes.store(out + c, add ? lanes.load(out + c) + x : x);
      });
}

template <class L>
void look_up_row(const LookUpRow& args) {
  const void* row = args.row;
  switch (args.format) {
    case ElementFormat::kF32:
      return look_up<L>(
          args, [&](auto lanes, size_t c)
                    __attribute__((always_inline)) { return lanes.load(static_cast<const float*>(row) + c); });
    case ElementFormat::kF16:
      return look_up<L>(
          args, [&](auto lanes, size_t c)
                    __attribute__((always_inline)) { return lanes.load_half(static_cast<const uint16_t*>(row) + c); });
    case ElementFormat::kI8:
      return look_up<L>(
          args, [&](auto lanes, size_t c) __attribute__((always_inline)) {
            return L::to_float(lanes.load_bytes(static_cast<const int8_t*>(row) + c));
          });
  }
}

template <class L>
void pool_rows(const PoolRows& args) {
  const uint64_t stride = args.in_stride;
  const uint32_t rows = args.rows;
  const auto count = L::set(static_cast<float>(rows));
  const float* first = args.function == PoolFunction::kLast ? args.in + (rows - 1) * stride : args.in;
  const bool one = args.function == PoolFunction::kFirst || args.function == PoolFunction::kLast;
  const bool mean = args.function == PoolFunction::kMean;
  float* out = args.out;
  each_vector<L>(
      args.cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
        auto y = lanes.load(first + c);
        for (uint32_t r = 1; !one && r < rows; ++r) {
          const auto x = lanes.load(first + r * stride + c);
          // The greatest; a NaN, once met, stays.
          const auto greatest = L::select(y == y, L::select(x <= y, y, x), y);
          y = mean ? y + x : greatest;
        }
        lanes.store(out + c, mean ? L::divide(y, count) : L::one_nan(y));
      });
}

}  // namespace heed::simd
