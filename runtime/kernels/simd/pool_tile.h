// What follows the pooling of a tile of values: accumulation over tiles, the weights for a tap, the division at the
// end. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/softmax_tile.h"

namespace heed::simd {

template <class L>
[[gnu::always_inline]] inline typename L::F as_float(typename L::F x) {
  return x;
}
template <class L>
[[gnu::always_inline]] inline typename L::F as_float(typename L::I x) {
  return L::to_float(x);
}

template <class L, class Args>
[[gnu::always_inline]] inline void pool_tile(const Args& args) {
  for (uint32_t r = 0; r < args.rows; ++r) {
    const auto* pooled = args.pooled + uint64_t{r} * args.pooled_stride;
    float* acc = args.acc + r * args.acc_stride;
    const auto decay = L::set(args.decay[r]), factor = L::set(args.factor[r]), zero = L::set(0.0f);
    each_vector<L>(
        args.cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
          const auto old = L::select(decay == zero, zero, lanes.load(acc + c) * decay);
          lanes.store(acc + c, old + as_float<L>(lanes.load(pooled + c)) * factor);
        });
  }
}

template <class L>
void pool_tile_i8(const PoolTileI8& args) {
  pool_tile<L>(args);
}

template <class L>
void pool_tile_f32(const PoolTileF32& args) {
  pool_tile<L>(args);
}

template <class L, bool kInt8>
[[gnu::always_inline]] inline void weigh_rows(const WeighTile& args) {
  using F = typename L::F;
  const TileKeys<L, kInt8> keys(args.tile);
  const F none = L::set(0.0f), hidden = L::set(-One<L>::infinity());
  for (uint32_t r = 0; r < args.tile.rows; ++r) {
    const TileRow<L, kInt8> row(args.tile, keys, r);
    float* weights = args.weights + uint64_t{r} * kKeyTile;
    const F sum = L::set(args.sum[r]), max = L::set(args.max[r]);
    for (uint32_t j = 0; j < keys.keys; j += L::kLanes) {
      const F u = row.masked(j);
      F weight = exp2<L>(u - max);
      if constexpr (kInt8) weight = weight * L::load(keys.value_inverse + j);
      weight = L::select(u == hidden, none, L::divide(weight, sum));
      Whole<L>{}.store(weights + j, L::select(sum == none, none, weight));
    }
  }
}

template <class L>
void weigh_tile(const WeighTile& args) {
  args.tile.scores_i8 ? weigh_rows<L, true>(args) : weigh_rows<L, false>(args);
}

template <class L>
void divide_rows(const DivideRows& args) {
  for (uint32_t r = 0; r < args.rows; ++r) {
    float* x = args.x + r * args.stride;
    const auto divisor = L::set(args.divisor[r]), zero = L::set(0.0f);
    const auto inverse = L::set(1.0f / args.divisor[r]);
    each_vector<L>(
        args.cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
          lanes.store(x + c, L::select(divisor == zero, zero, lanes.load(x + c) * inverse));
        });
  }
}

}  // namespace heed::simd
