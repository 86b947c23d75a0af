// Softmax over a tile of keys, between the two products of attention, and what carries from tile to tile.
// SPDX-License-Identifier: Apache-2.0
//
// A maximum passes over NaNs and is -inf where nothing is seen; a sum is NaN once a visible logit was, and so the row's
// result.
#pragma once
#include <cfloat>

#include "kernels/simd/math.h"
#include "quant/panel.h"

namespace heed::simd {

constexpr uint32_t kMaxTileRows = 16;

// What belongs to the keys of a tile, the same for all its rows. Arrays are whole: short ones are copied, with keys that
// get a logit of -inf and so the weight 0.
template <class L, bool kInt8>
struct TileKeys {
  uint32_t keys;  // up to whole panels
  const float* scale;
  const float* value_log2;
  const float* value_inverse;
  alignas(64) float copies[3][kKeyTile];

  [[gnu::always_inline]] explicit TileKeys(const ScoreTile& tile)
      : keys(static_cast<uint32_t>(round_up(tile.keys, kPanelRows))) {
    if constexpr (kInt8) {
      scale = whole(tile.key_scale, tile.keys, copies[0], 0.0f);
      value_log2 = whole(tile.value_log2, tile.keys, copies[1], -One<L>::infinity());
      value_inverse = whole(tile.value_inverse, tile.keys, copies[2], 0.0f);
    }
  }

 private:
  [[gnu::always_inline]] const float* whole(const float* from, uint32_t count, float* copy, float missing) const {
    if (count == keys) return from;
    for (uint32_t j = count; j < keys; ++j) copy[j] = missing;
    std::memcpy(copy, from, count * sizeof(float));
    return copy;
  }
};

// One row of a tile: its logits u, in units of log2.
template <class L, bool kInt8>
struct TileRow {
  using F = typename L::F;
  const TileKeys<L, kInt8>& keys;
  const int32_t* scores_i8;
  const float* scores_f32;
  const float* bias;
  uint64_t line;  // where the row starts in [rows, 64]
  int32_t begin, end;
  F scale;

  [[gnu::always_inline]] TileRow(const ScoreTile& t, const TileKeys<L, kInt8>& k, uint32_t r)
      : keys(k),
        scores_i8(t.scores_i8),
        scores_f32(t.scores_f32),
        bias(t.bias),
        line(uint64_t{r} * kKeyTile),
        begin(t.begin[r]),
        end(t.end[r]),
        scale(L::set(t.row_scale[r * t.row_scale_stride] * t.score_scale)) {}

  [[gnu::always_inline]] F logits(size_t j) const {
    if constexpr (kInt8) {
      return (L::to_float(L::load(scores_i8 + line + j)) * L::load(keys.scale + j)) * scale;
    } else {
      return L::load(scores_f32 + line + j) * scale;
    }
  }
  [[gnu::always_inline]] F with_value(F t, size_t j) const {
    if constexpr (kInt8) return t + L::load(keys.value_log2 + j);
    return t;
  }
  // -inf where hidden.
  [[gnu::always_inline]] F masked(uint32_t j) const {
    const F hidden = L::set(-One<L>::infinity());
    const auto seen = L::lanes_between(begin - static_cast<int32_t>(j), end - static_cast<int32_t>(j));
    if (!bias) return L::select(seen, with_value(logits(j), j), hidden);
    const F added = L::load(bias + line + j);
    return L::select(seen, L::select(added == hidden, hidden, with_value(logits(j) + added, j)), hidden);
  }
};

// What logits are measured against: the greatest, or where that is -inf a number, so that -inf stays -inf.
template <class L>
[[gnu::always_inline]] inline typename L::F finite_base(float top) {
  return L::at_least(L::set(top), -FLT_MAX);
}

template <class L>
[[gnu::always_inline]] inline void store_weights(uint8_t* weights, size_t j, typename L::F e) {
  L::store_weights(weights + j, L::nearest(e));
}
template <class L>
[[gnu::always_inline]] inline void store_weights(float* weights, size_t j, typename L::F e) {
  Whole<L>{}.store(weights + j, e);
}

// What a key's exponential is: 127 times as much where it becomes an int8 weight.
template <class L, bool kInt8>
[[gnu::always_inline]] inline typename L::F exponential(typename L::F x) {
  if constexpr (kInt8) return weight_exp2<L>(x);
  return exp2<L>(x);
}

// Logits of kKeys keys, of which a row sees all, to u. `tops` takes in the greatest.
template <class L, uint32_t kKeys, bool kInt8>
[[gnu::always_inline]] inline void take_logits(const TileRow<L, kInt8>& row, size_t first, float* u,
                                               typename L::F& tops) {
#pragma GCC unroll 4
  for (uint32_t i = 0; i < kKeys; i += L::kLanes) {
    const auto x = row.with_value(row.logits(first + i), first + i);
    tops = L::max(x, tops);
    L::store(u + first + i, x);
  }
}

// Logits of a row that sees all keys of the tile to u; returns the greatest of each lane.
template <class L, bool kInt8>
[[gnu::always_inline]] inline typename L::F logits_whole(const TileRow<L, kInt8>& row, size_t keys, float* u) {
  auto tops = L::set(-One<L>::infinity());
  if (!kForSize && (!kInt8 || keys == kKeyTile)) {
    take_logits<L, kKeyTile>(row, 0, u, tops);
  } else {
    for (size_t first = 0; first < keys; first += kSumLanes) take_logits<L, kSumLanes>(row, first, u, tops);
  }
  return tops;
}

// Exponentials of kKeys keys of a row, a multiple of 16, as weights and added to its sum.
template <class L, uint32_t kKeys, bool kInt8, class Weight>
[[gnu::always_inline]] inline void add_exponentials(const float* u, const float* value_inverse, float top,
                                                    Weight* weights, Sum<L>& sum) {
  constexpr uint32_t kVectors = kKeys / L::kLanes, kChains = kVectors < L::kChains ? kVectors : L::kChains;
  using Chains = Several<L, kChains>;
#pragma GCC unroll 16
  for (uint32_t i = 0; i < kVectors; i += kChains) {
    const uint32_t j = i * L::kLanes;
    const auto e = exponential<Chains, kInt8>(Chains::load(u + j) - finite_base<Chains>(top));
    auto share = e;
    if constexpr (kInt8) share = e * Chains::load(value_inverse + j);
#pragma GCC unroll 4
    for (uint32_t c = 0; c < kChains; ++c) {
      auto& lane = sum.lane[(i + c) % Sum<L>::kVectors];
      lane = lane + share.v[c];
    }
    store_weights<Chains>(weights, j, e);
  }
}

// Exponentials of a row's logits against the greatest, as weights; returns their sum in each lane.
template <class L, bool kInt8, class Weight>
[[gnu::always_inline]] inline typename L::F exponentials_whole(const float* u, const float* value_inverse, size_t keys,
                                                       float top, Weight* weights) {
  constexpr uint32_t kStep = L::kLanes * L::kChains > kSumLanes ? L::kLanes * L::kChains : kSumLanes;
  Sum<L> sum;
  size_t j = 0;
  for (; j + kStep <= keys; j += kStep) {
    add_exponentials<L, kStep, kInt8>(u + j, value_inverse + j, top, weights + j, sum);
  }
  if constexpr (kInt8 && kStep > kSumLanes) {
    for (; j < keys; j += kSumLanes) {
      add_exponentials<L, kSumLanes, kInt8>(u + j, value_inverse + j, top, weights + j, sum);
    }
  }
  return sum.one_vector();
}

// The same two, in numbers, where not all keys of the tile are visible.
template <class L, bool kInt8>
[[gnu::always_inline]] inline float logits_masked(const ScoreTile& tile, const TileKeys<L, kInt8>& keys, uint32_t r, float* u) {
  const TileRow<L, kInt8> row(tile, keys, r);
  auto tops = L::set(-One<L>::infinity());
  for (uint32_t j = 0; j < keys.keys; j += L::kLanes) {
    const auto x = row.masked(j);
    tops = L::max(x, tops);
    L::store(u + j, x);
  }
  return L::fold_max(tops);
}

template <class L, bool kInt8, class Weight>
[[gnu::always_inline]] inline float exponentials_masked(const TileKeys<L, kInt8>& keys, const float* u, float top,
                                            Weight* weights) {
  using F = typename L::F;
  const F hidden = L::set(-One<L>::infinity()), base = finite_base<L>(top);
  Sum<L> sum;
  for (uint32_t block = 0; block < keys.keys; block += kSumLanes) {
#pragma GCC unroll 2
    for (uint32_t v = 0; v < Sum<L>::kVectors; ++v) {
      const uint32_t j = block + v * L::kLanes;
      const F x = L::load(u + j), e = exponential<L, kInt8>(x - base);
      F share = e;
      // What is hidden may have any inverse, a NaN too.
      if constexpr (kInt8) share = L::select(x == hidden, L::set(0.0f), e * L::load(keys.value_inverse + j));
      sum.lane[v] = sum.lane[v] + share;
      store_weights<L>(weights, j, e);
    }
  }
  return sum.total();
}

// Folds a tile's maxima and sums into the rows' own.
template <class L, class Args>
[[gnu::always_inline]] inline void carry(const Args& args, const float* top, const float* total, float factor_scale) {
  using F = typename L::F;
  each_vector<L>(
      args.tile.rows, [&](auto lanes, size_t r) __attribute__((always_inline)) {
        const F none = L::set(-One<L>::infinity());
        const F old_max = lanes.load(args.max + r), tile_max = lanes.load(top + r);
        const F new_max = L::max(tile_max, old_max);
        const F base = L::at_least(new_max, -FLT_MAX);
        const F factor = exp2<L>(tile_max - base) * L::set(factor_scale);
        const F decay = L::select(tile_max == none, L::set(1.0f), exp2<L>(old_max - base));
        lanes.store(args.sum + r, lanes.load(args.sum + r) * decay + factor * lanes.load(total + r));
        lanes.store(args.max + r, new_max);
        lanes.store(args.decay + r, decay);
        lanes.store(args.factor + r, factor);
      });
}

constexpr uint32_t kSoftmaxRows = 8;  // whose maxima are found before the first exponential, which waits for its own

// Logits and their maxima, or exponentials and their sums, of kRows rows.
template <class L, bool kInt8, uint32_t kRows>
[[gnu::always_inline]] inline void logits_of(const ScoreTile& tile, const TileKeys<L, kInt8>& keys, uint32_t r, float (*u)[kKeyTile], float* top) {
  typename L::F tops[kRows];
#pragma GCC unroll 4
  for (uint32_t i = 0; i < kRows; ++i) tops[i] = logits_whole<L, kInt8>(TileRow<L, kInt8>(tile, keys, r + i), keys.keys, u[i]);
  fold_max_rows<L>(tops, top + r);
}
template <class L, bool kInt8, uint32_t kRows, class Weight>
[[gnu::always_inline]] inline void exponentials_of(const TileKeys<L, kInt8>& keys, uint32_t r, float (*u)[kKeyTile], const float* top,
                                                   Weight* weights, float* total) {
  const float* const value_inverse = kInt8 ? keys.value_inverse : nullptr;
  typename L::F totals[kRows];
#pragma GCC unroll 4
  for (uint32_t i = 0; i < kRows; ++i) {
    totals[i] = exponentials_whole<L, kInt8>(u[i], value_inverse, keys.keys, top[r + i], weights + uint64_t{r + i} * kKeyTile);
  }
  fold_add_rows<L>(totals, total + r);
}

// Weights of rows that see all keys of the tile, up to kSoftmaxRows of them from `first` on.
template <class L, bool kInt8, class Weight>
[[gnu::noinline]] void soften_whole(const ScoreTile& tile, const TileKeys<L, kInt8>& keys, uint32_t first, uint32_t last,
                                    Weight* weights, float* top, float* total) {
  constexpr uint32_t kRows = kFoldRows<L>;
  alignas(64) float u[kSoftmaxRows][kKeyTile];
  uint32_t r = first;
  for (; r + kRows <= last; r += kRows) logits_of<L, kInt8, kRows>(tile, keys, r, u + (r - first), top);
  for (; kRows > 1 && r < last; ++r) logits_of<L, kInt8, 1>(tile, keys, r, u + (r - first), top);
  for (r = first; r + kRows <= last; r += kRows) exponentials_of<L, kInt8, kRows>(keys, r, u + (r - first), top, weights, total);
  for (; kRows > 1 && r < last; ++r) exponentials_of<L, kInt8, 1>(keys, r, u + (r - first), top, weights, total);
}

// The same of rows some of which do not see them all.
template <class L, bool kInt8, class Weight>
[[gnu::noinline]] void soften_masked(const ScoreTile& tile, const TileKeys<L, kInt8>& keys, uint32_t first, uint32_t last,
                                     Weight* weights, float* top, float* total) {
  alignas(64) float u[kSoftmaxRows][kKeyTile];
  for (uint32_t r = first; r < last; ++r) top[r] = logits_masked<L, kInt8>(tile, keys, r, u[r - first]);
  for (uint32_t r = first; r < last; ++r) {
    total[r] = exponentials_masked<L, kInt8>(keys, u[r - first], top[r], weights + uint64_t{r} * kKeyTile);
  }
}

template <class L, bool kInt8, class Args>
[[gnu::always_inline]] inline void softmax_tile(const Args& args, float factor_scale) {
  const ScoreTile& tile = args.tile;
  const TileKeys<L, kInt8> keys(tile);
  float top[kMaxTileRows], total[kMaxTileRows];
  // Behind a row's last key there is, of int8, what has the weight 0.
  const uint32_t end = kInt8 ? tile.keys : kKeyTile;
  for (uint32_t first = 0; first < tile.rows; first += kSoftmaxRows) {
    const uint32_t last = One<L>::least(first + kSoftmaxRows, tile.rows);
    uint32_t unseen = tile.bias != nullptr;
    for (uint32_t r = first; r < last; ++r) unseen |= tile.begin[r] | (tile.end[r] ^ end);
    // One lane gains nothing by knowing it.
    L::kLanes > 1 && unseen == 0 ? soften_whole<L, kInt8>(tile, keys, first, last, args.weights, top, total)
                                 : soften_masked<L, kInt8>(tile, keys, first, last, args.weights, top, total);
  }
  carry<L>(args, top, total, factor_scale);
}

template <class L>
void softmax_tile_i8(const SoftmaxTileI8& args) {
  softmax_tile<L, true>(args, 1.0f / 127.0f);
}

template <class L>
void softmax_tile_f32(const SoftmaxTileF32& args) {
  softmax_tile<L, false>(args, 1.0f);
}

}  // namespace heed::simd
