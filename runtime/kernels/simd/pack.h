// Keys and values of a sequence to int8, in the panels that multiply_i8 reads (quant/panel.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/math.h"
#include "kernels/simd/quantize.h"
#include "quant/panel.h"

namespace heed::simd {

// One key into its slot: 4 bytes of each group together, groups 64 bytes apart. Returns the sum of its bytes.
template <class L>
[[gnu::always_inline]] inline int32_t pack_key(const float* in, uint32_t head_dim, float inverse, int8_t* slot) {
  constexpr uint32_t k = L::kLanes, kWords = kPanelRows / kGroupCols;
  auto sum = L::set(int32_t{0});
  for (uint32_t c = 0; c < head_dim; c += kPanelRows) {
    alignas(16) uint8_t bytes[kPanelRows] = {};
    const uint32_t count = One<L>::least(kPanelRows, head_dim - c);
    each_vector<L>(count, [&](auto lanes, uint64_t i) [[gnu::always_inline]] {
      const auto q = symmetric<L>(lanes.load(in + c + i), inverse);
      sum = sum + q;
      L::store_bytes(bytes + i, 0, q);
    });
    int8_t* group = slot + uint64_t{c} * kPanelRows;
    for (uint32_t w = 0; w < kWords && w * kGroupCols < count; ++w) {
      std::memcpy(group + w * (kPanelRows * kGroupCols), bytes + w * kGroupCols, kGroupCols);
    }
  }
  static_assert(kPanelRows % k == 0);
  return L::fold_sum(sum);
}

template <class L>
void pack_keys_i8(const PackKeysI8& args) {
  for (uint32_t h = 0; h < args.heads; ++h) {
    int8_t* out = args.out + h * args.out_head_stride;
    for (uint32_t r = 0; r < args.rows; ++r) {
      const float* in = args.in + r * args.in_stride + uint64_t{h} * args.head_dim;
      const uint64_t p = uint64_t{args.first} + r;
      const SymmetricScale<L> s = symmetric_scale<L>(in, args.head_dim);
      const int32_t sum = pack_key<L>(in, args.head_dim, s.inverse, out + panel_i8_index(p, 0, args.head_dim));
      args.scale[h * args.slot_stride + p] = s.scale;
      args.sum[h * args.slot_stride + p] = sum;
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
      uint8_t bytes[k];
      L::store_bytes(bytes, 0, q[0]);
      for (uint32_t i = 0; i < k; ++i) words[i * kGroupCols] = static_cast<int8_t>(bytes[i]);
    }
  }
}

template <class L>
void pack_values_i8(const PackValuesI8& args) {
  for (uint32_t h = 0; h < args.heads; ++h) {
    const float* in = args.in + uint64_t{h} * args.value_dim;
    float* scale_log2 = args.scale_log2 + h * args.slot_stride + args.first;
    float* scale_inverse = args.scale_inverse + h * args.slot_stride + args.first;
    for (uint32_t r = 0; r < args.rows; ++r) {
      const SymmetricScale<L> s = symmetric_scale<L>(in + r * args.in_stride, args.value_dim);
      scale_log2[r] = s.scale;  // its logarithm below, for all at once
      scale_inverse[r] = s.inverse;
    }
    for (uint32_t r = 0; r < args.rows;) {
      const uint64_t p = uint64_t{args.first} + r;
      const uint64_t tile = p / kKeyTile * kKeyTile;
      const uint64_t panel_bytes = uint64_t{tile_keys(args.keys, tile)} * kPanelRows;
      int8_t* group = args.out + h * args.out_head_stride + tile * round_up(args.value_dim, kPanelRows) +
                      (p - tile) / kGroupCols * (kPanelRows * kGroupCols) + p % kGroupCols;
      const float* row = in + r * args.in_stride;
      if (p % kGroupCols == 0 && args.rows - r >= kGroupCols) {
        pack_values<L, 4>(row, args.in_stride, args.value_dim, scale_inverse + r, group, panel_bytes);
        r += 4;
      } else {
        pack_values<L, 1>(row, args.in_stride, args.value_dim, scale_inverse + r, group, panel_bytes);
        r += 1;
      }
    }
    each_vector<L>(args.rows, [&](auto lanes, uint64_t r) [[gnu::always_inline]] {
      const auto scale = lanes.load(scale_log2 + r);
      // An inverse below 2^-51 would be stored as 0 and the key forgotten: such a scale is treated as not finite.
      const auto usable = scale < L::set(1.0f / kLeastStored);
      lanes.store(scale_log2 + r, L::select(usable, log2<L>(scale), L::set(One<L>::nan())));
      lanes.store(scale_inverse + r, L::divide(L::set(1.0f), scale));
    });
  }
}

}  // namespace heed::simd
