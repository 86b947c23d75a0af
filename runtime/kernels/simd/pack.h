// Keys and values of a sequence to int8, in the panels that multiply_i8 reads (quant/panel.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/math.h"
#include "kernels/simd/quantize.h"
#include "quant/panel.h"

namespace heed::simd {

// 16 features of a key, or `count` and zeros, to bytes: 4 of each group together, groups 64 bytes apart.
template <class L, class Load>
[[gnu::always_inline]] inline typename L::I pack_features(uint32_t count, float inverse, int8_t* slot, Load load) {
  alignas(16) uint8_t bytes[kPanelRows];
  auto sum = L::set(int32_t{0});
#pragma GCC unroll 2
  for (uint32_t i = 0; i < kPanelRows; i += L::kLanes) {
    const auto q = symmetric<L>(load(i), inverse);
    sum = sum + q;
    L::store_bytes(bytes + i, 0, q);
  }
  for (uint32_t i = 0; i < count; i += kGroupCols) std::memcpy(slot + i * kPanelRows, bytes + i, kGroupCols);
  return sum;
}

// One key into its slot. Returns the sum of its bytes.
template <class L>
[[gnu::always_inline]] inline int32_t pack_key(const float* in, uint32_t head_dim, float inverse, int8_t* slot) {
  if (inverse == 0.0f) {
    const int32_t zeros = 0;
    for (uint32_t c = 0; c < head_dim; c += kGroupCols)
      std::memcpy(slot + uint64_t{c} * kPanelRows, &zeros, kGroupCols);
    return 0;
  }
  auto sum = L::set(int32_t{0});
  uint32_t c = 0;
  for (; c + kPanelRows <= head_dim; c += kPanelRows) {
    sum =
        sum + pack_features<L>(
                  kPanelRows, inverse, slot + uint64_t{c} * kPanelRows, [&](uint32_t i) __attribute__((always_inline)) {
                    return L::load(in + c + i);
                  });
  }
  if (c < head_dim) {
    const uint32_t count = head_dim - c;
    sum = sum + pack_features<L>(
                    count, inverse, slot + uint64_t{c} * kPanelRows, [&](uint32_t i) __attribute__((always_inline)) {
                      return L::load_part(in + c + i, i < count ? One<L>::least(L::kLanes, count - i) : 0);
                    });
  }
  return L::fold_sum(sum);
}

// Four keys side by side, the first at a multiple of 4: each group of theirs is 16 bytes. head_dim is a multiple of the lanes.
template <class L>
[[gnu::always_inline]] inline void pack_four_keys(const float* in, uint64_t in_stride, uint32_t head_dim, const float* inverse, int8_t* slot,
                                                  int32_t* sum) {
  typename L::I sums[4] = {L::set(int32_t{0}), L::set(int32_t{0}), L::set(int32_t{0}), L::set(int32_t{0})};
  for (uint32_t c = 0; c < head_dim; c += L::kLanes) {
    typename L::I q[4];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; ++i) {
      q[i] = symmetric<L>(L::load(in + i * in_stride + c), inverse[i]);
      sums[i] = sums[i] + q[i];
    }
    L::store_groups(reinterpret_cast<uint8_t*>(slot + uint64_t{c} * kPanelRows), kPanelRows * kGroupCols, q[0], q[1], q[2], q[3]);
  }
  fold_sum_rows<L>(sums, sum);
}

template <class L>
void pack_keys_i8(const PackKeysI8& args) {
  const uint32_t head_dim = args.head_dim;
  for (uint32_t h = 0; h < args.heads; ++h) {
    int8_t* out = args.out + h * args.out_head_stride;
    for (uint32_t first = 0; first < args.rows; first += kScaleBlock) {
      const float* in = args.in + first * args.in_stride + uint64_t{h} * head_dim;
      const uint32_t rows = One<L>::least(kScaleBlock, args.rows - first);
      const uint64_t p = uint64_t{args.first} + first;
      int32_t* sum = args.sum + h * args.slot_stride + p;
      SymmetricScales<L> s;
      greatest_magnitudes<L>(in, args.in_stride, rows, head_dim, s.greatest);
      s.find(rows, args.scale + h * args.slot_stride + p);
      for (uint32_t r = 0; r < rows;) {
        int8_t* slot = out + panel_i8_index(p + r, 0, head_dim);
        const float* row = in + r * args.in_stride;
        if constexpr (L::kLanes > 1) {
          if (head_dim % L::kLanes == 0 && (p + r) % 4 == 0 && rows - r >= 4 && s.finite_four(r)) {
            pack_four_keys<L>(row, args.in_stride, head_dim, s.inverse + r, slot, sum + r);
            r += 4;
            continue;
          }
        }
        sum[r] = pack_key<L>(row, head_dim, s.inverse[r], slot);
        ++r;
      }
    }
  }
}

// kKeys (1 or 4) neighbouring keys of one head into their bytes of each feature's group of 4 keys.
template <class L, uint32_t kKeys>
[[gnu::always_inline]] inline void pack_values(const float* in, uint64_t in_stride, uint32_t value_dim,
                                               const float* inverse, int8_t* group, uint64_t panel_bytes) {
  constexpr uint32_t k = L::kLanes;
  for (uint32_t c = 0; c < round_up(value_dim, kPanelRows); c += k) {
    const uint32_t count = c < value_dim ? One<L>::least(k, value_dim - c) : 0;
    int8_t* words = group + c / kPanelRows * panel_bytes + c % kPanelRows * kGroupCols;
    typename L::I q[kKeys];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < kKeys; ++i) {
      const float* x = in + i * in_stride + c;
      q[i] = symmetric<L>(count == k ? L::load(x) : L::load_part(x, count), inverse[i]);
    }
    if constexpr (kKeys == 4) {
      const auto low = L::set(0xff);
      auto word = L::bit_or(L::bit_and(q[0], low), L::template shift_left<8>(L::bit_and(q[1], low)));
      word = L::bit_or(word, L::template shift_left<16>(L::bit_and(q[2], low)));
      word = L::bit_or(word, L::template shift_left<24>(q[3]));
      alignas(64) int32_t all[k];
      L::store(all, word);
      std::memcpy(words, all, sizeof all);
    } else {
      uint8_t bytes[k] = {};
      if (inverse[0] != 0.0f) L::store_bytes(bytes, 0, q[0]);
      for (uint32_t i = 0; i < k; ++i) words[i * kGroupCols] = static_cast<int8_t>(bytes[i]);
    }
  }
}

// What attention wants of the values' scales, kScaleBlock of them: log2 and inverse of the first `count`.
template <class L>
[[gnu::always_inline]] inline void store_value_scales(const float* scale, uint32_t count, float* log2_out,
                                                      float* inverse_out) {
  alignas(64) float logs[kScaleBlock], inverses[kScaleBlock];
  const Whole<L> whole;
  for (uint32_t i = 0; i < kScaleBlock; i += L::kLanes) {
    const auto x = L::load(scale + i);
    // An inverse below 2^-51 would be stored as 0 and the key forgotten: such a scale is treated as not finite.
    const auto usable = x < L::set(1.0f / kLeastStored);
    whole.store(logs + i, L::select(usable, log2<L>(x), L::set(One<L>::nan())));
    whole.store(inverses + i, L::divide(L::set(1.0f), x));
  }
  store_block<L>(log2_out, logs, count);
  store_block<L>(inverse_out, inverses, count);
}

template <class L>
void pack_values_i8(const PackValuesI8& args) {
  for (uint32_t h = 0; h < args.heads; ++h) {
    for (uint32_t first = 0, rows; first < args.rows; first += rows) {
      const float* in = args.in + first * args.in_stride + uint64_t{h} * args.value_dim;
      const uint64_t p = uint64_t{args.first} + first, slot = h * args.slot_stride + p;
      rows = One<L>::least(kScaleBlock - static_cast<uint32_t>(p % kScaleBlock), args.rows - first);
      SymmetricScales<L> s;
      alignas(64) float scale[kScaleBlock] = {};
      greatest_magnitudes<L>(in, args.in_stride, rows, args.value_dim, s.greatest);
      s.find(rows, scale);
      store_value_scales<L>(scale, rows, args.scale_log2 + slot, args.scale_inverse + slot);

      // These keys share a tile, 64 being a multiple of the block.
      const uint64_t tile = p / kKeyTile * kKeyTile;
      const uint64_t panel_bytes = uint64_t{tile_keys(args.keys, tile)} * kPanelRows;
      int8_t* out = args.out + h * args.out_head_stride + tile * round_up(args.value_dim, kPanelRows);
      for (uint32_t r = 0, keys; r < rows; r += keys) {
        const uint64_t key = p + r - tile;
        int8_t* group = out + key / kGroupCols * (kPanelRows * kGroupCols) + key % kGroupCols;
        const float* row = in + r * args.in_stride;
        keys = key % kGroupCols == 0 && rows - r >= kGroupCols && s.finite_four(r) ? 4 : 1;
        keys == 4 ? pack_values<L, 4>(row, args.in_stride, args.value_dim, s.inverse + r, group, panel_bytes)
                  : pack_values<L, 1>(row, args.in_stride, args.value_dim, s.inverse + r, group, panel_bytes);
      }
    }
  }
}

}  // namespace heed::simd
