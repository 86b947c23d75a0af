// Attention between its two products: softmax over a tile of keys, and what carries from tile to tile.
// SPDX-License-Identifier: Apache-2.0
//
// A maximum passes over NaNs and is -inf where nothing is seen; a sum is NaN once a visible logit was, and so the row's
// result. Exponentials are taken against 0 instead of a maximum of -inf, which makes them 0.
#pragma once
#include "kernels/simd/math.h"
#include "quant/panel.h"

namespace heed::simd {

constexpr uint32_t kMaxTileRows = 16;

// One row of a tile: its logits u, in units of log2.
template <class L, bool kInt8>
struct TileRow {
  using F = typename L::F;
  const ScoreTile& tile;
  uint64_t line;  // where the row starts in [rows, 64]
  int32_t begin, end;
  F scale;

  [[gnu::always_inline]] TileRow(const ScoreTile& t, uint32_t r)
      : tile(t), line(uint64_t{r} * kKeyTile), begin(t.begin[r]), end(t.end[r]),
        scale(L::set(t.row_scale[r * t.row_scale_stride] * t.score_scale)) {}

  // Whether every lane is visible, the common case.
  [[gnu::always_inline]] bool whole() const { return begin == 0 && end == int32_t{kKeyTile} && !tile.bias; }

  template <class Lanes>
  [[gnu::always_inline]] F logits(Lanes lanes, uint32_t j) const {
    if constexpr (kInt8) {
      const auto exact = L::load(tile.scores_i8 + line + j) - L::set(tile.zero) * lanes.load(tile.key_sum + j);
      return (L::to_float(exact) * lanes.load(tile.key_scale + j)) * scale;
    } else {
      return L::load(tile.scores_f32 + line + j) * scale;
    }
  }
  template <class Lanes>
  [[gnu::always_inline]] F with_value(F t, Lanes lanes, uint32_t j) const {
    return kInt8 ? t + lanes.load(tile.value_log2 + j) : t;
  }
  // -inf where hidden.
  template <class Lanes>
  [[gnu::always_inline]] F masked(Lanes lanes, uint32_t j) const {
    const F hidden = L::set(-One<L>::infinity());
    const int32_t first = static_cast<int32_t>(j);
    F t = logits(lanes, j);
    if (!tile.bias) return L::select(L::lanes_between(begin - first, end - first), with_value(t, lanes, j), hidden);
    const F bias = L::load(tile.bias + line + j);
    t = L::select(bias == hidden, hidden, with_value(t + bias, lanes, j));
    return L::select(L::lanes_between(begin - first, end - first), t, hidden);
  }
};

// body(lanes, j) for each vector of a tile's keys, up to whole panels; lanes.count may be 0.
template <class L, class Body>
[[gnu::always_inline]] inline void each_key_vector(uint32_t keys, Body body) {
  for (uint32_t j = 0; j < round_up(keys, kPanelRows); j += L::kLanes) {
    j + L::kLanes <= keys ? body(Whole<L>{}, j) : body(Part<L>{j < keys ? keys - j : 0}, j);
  }
}

template <class L>
struct TileState {
  float top, total;
};

// Exponentials of a row against its greatest logit, each given to emit(j, e) in turn, and their sum.
template <class L, bool kInt8, class Emit>
[[gnu::always_inline]] inline TileState<L> softmax_row(const TileRow<L, kInt8>& row, Emit emit) {
  using F = typename L::F;
  constexpr uint32_t k = L::kLanes;
  const ScoreTile& tile = row.tile;
  alignas(64) float u[kKeyTile];
  F tops = L::set(-One<L>::infinity());
  const bool whole = row.whole();
  if (whole) {
    for (uint32_t j = 0; j < kKeyTile; j += k) {
      const F x = row.with_value(row.logits(Whole<L>{}, j), Whole<L>{}, j);
      tops = L::max(x, tops);
      L::store(u + j, x);
    }
  } else {
    each_key_vector<L>(tile.keys, [&](auto lanes, uint32_t j) [[gnu::always_inline]] {
      const F x = row.masked(lanes, j);
      tops = L::max(x, tops);
      L::store(u + j, x);
    });
  }
  const float top = L::fold_max(tops);
  const F base = L::set(top == -One<L>::infinity() ? 0.0f : top);
  Sum<L> sum;
  const auto add = [&](uint32_t j, F e, F inverse) [[gnu::always_inline]] {
    F& lane = sum.lane[j / k % Sum<L>::kVectors];
    lane = lane + (kInt8 ? e * inverse : e);
    emit(j, e);
  };
  if (whole) {
    for (uint32_t j = 0; j < kKeyTile; j += kSumLanes) {
      for (uint32_t i = j; i < j + kSumLanes; i += k) {
        add(i, exp2<L>(L::load(u + i) - base), kInt8 ? L::load(tile.value_inverse + i) : base);
      }
    }
  } else {
    each_key_vector<L>(tile.keys, [&](auto lanes, uint32_t j) [[gnu::always_inline]] {
      const F x = L::load(u + j), none = L::set(0.0f);
      // What is hidden may have any inverse, a NaN too.
      const F inverse = kInt8 ? L::select(x == L::set(-One<L>::infinity()), none, lanes.load(tile.value_inverse + j)) : none;
      add(j, exp2<L>(x - base), inverse);
    });
  }
  return {top, sum.total()};
}

// Folds a tile's maxima and sums into the rows' own.
template <class L, class Args>
[[gnu::always_inline]] inline void carry(const Args& args, const float* top, const float* total, float factor_scale) {
  using F = typename L::F;
  each_vector<L>(args.tile.rows, [&](auto lanes, uint64_t r) [[gnu::always_inline]] {
    const F none = L::set(-One<L>::infinity());
    const F old_max = lanes.load(args.max + r), tile_max = lanes.load(top + r);
    const F new_max = L::max(tile_max, old_max);
    const F base = L::select(new_max == none, L::set(0.0f), new_max);
    const F factor = exp2<L>(tile_max - base);
    const F decay = L::select(tile_max == none, L::set(1.0f), exp2<L>(old_max - base));
    lanes.store(args.sum + r, lanes.load(args.sum + r) * decay + factor * lanes.load(total + r));
    lanes.store(args.max + r, new_max);
    lanes.store(args.decay + r, decay);
    lanes.store(args.factor + r, factor * L::set(factor_scale));
  });
}

template <class L>
void softmax_tile_i8(const SoftmaxTileI8& args) {
  constexpr uint32_t k = L::kLanes;
  float top[kMaxTileRows], total[kMaxTileRows];
  for (uint32_t r = 0; r < args.tile.rows; ++r) {
    const TileRow<L, true> row(args.tile, r);
    uint8_t* weights = args.weights + uint64_t{r} * kKeyTile;
    const TileState<L> state = softmax_row<L, true>(row, [&](uint32_t j, typename L::F e) [[gnu::always_inline]] {
      // A NaN's weight is 0; its row is NaN by its sum.
      L::store_bytes(weights + j, L::nearest(L::max(e * L::set(127.0f), L::set(0.0f))));
    });
    top[r] = state.top;
    total[r] = state.total;
  }
  static_assert(kKeyTile % k == 0);
  carry<L>(args, top, total, 1.0f / 127.0f);
}

template <class L>
void softmax_tile_f32(const SoftmaxTileF32& args) {
  float top[kMaxTileRows], total[kMaxTileRows];
  for (uint32_t r = 0; r < args.tile.rows; ++r) {
    const TileRow<L, false> row(args.tile, r);
    float* weights = args.weights + uint64_t{r} * kKeyTile;
    const TileState<L> state = softmax_row<L, false>(row, [&](uint32_t j, typename L::F e) [[gnu::always_inline]] {
      Whole<L>{}.store(weights + j, e);
    });
    top[r] = state.top;
    total[r] = state.total;
  }
  carry<L>(args, top, total, 1.0f);
}

template <class L>
[[gnu::always_inline]] inline typename L::F pooled_as_float(const int32_t* p, Whole<L>) {
  return L::to_float(L::load(p));
}
template <class L>
[[gnu::always_inline]] inline typename L::F pooled_as_float(const int32_t* p, Part<L> part) {
  return L::to_float(part.load(p));
}
template <class L, class Lanes>
[[gnu::always_inline]] inline typename L::F pooled_as_float(const float* p, Lanes lanes) {
  return lanes.load(p);
}

template <class L, class Args>
[[gnu::always_inline]] inline void pool_tile(const Args& args) {
  for (uint32_t r = 0; r < args.rows; ++r) {
    const auto* pooled = args.pooled + uint64_t{r} * args.pooled_stride;
    float* acc = args.acc + r * args.acc_stride;
    const auto decay = L::set(args.decay[r]), factor = L::set(args.factor[r]), zero = L::set(0.0f);
    each_vector<L>(args.cols, [&](auto lanes, uint64_t c) [[gnu::always_inline]] {
      const auto old = L::select(decay == zero, zero, lanes.load(acc + c) * decay);
      lanes.store(acc + c, old + pooled_as_float<L>(pooled + c, lanes) * factor);
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
  for (uint32_t r = 0; r < args.tile.rows; ++r) {
    const TileRow<L, kInt8> row(args.tile, r);
    float* weights = args.weights + uint64_t{r} * kKeyTile;
    const F none = L::set(0.0f), sum = L::set(args.sum[r]), max = L::set(args.max[r]);
    each_key_vector<L>(args.tile.keys, [&](auto lanes, uint32_t j) [[gnu::always_inline]] {
      const F u = row.masked(lanes, j);
      F weight = exp2<L>(u - max);
      if constexpr (kInt8) weight = weight * lanes.load(args.tile.value_inverse + j);
      weight = L::select(u == L::set(-One<L>::infinity()), none, L::divide(weight, sum));
      Whole<L>{}.store(weights + j, L::select(sum == none, none, weight));
    });
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
    each_vector<L>(args.cols, [&](auto lanes, uint64_t c) [[gnu::always_inline]] {
      lanes.store(x + c, L::select(divisor == zero, zero, L::divide(lanes.load(x + c), divisor)));
    });
  }
}

}  // namespace heed::simd
