// Rows to int8: with a zero point (activations), or symmetric per head (queries, keys, values).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/lanes.h"

namespace heed::simd {

constexpr int32_t kInfinityBits = 0x7f800000;
constexpr int32_t kSignBit = INT32_MIN;

constexpr uint32_t kScaleBlock = 16;  // rows or heads whose scales are found side by side, before the first is needed

// The first `count` of a block, which is whole more often than not.
template <class L, class T>
[[gnu::always_inline]] inline void store_block(T* to, const T* block, uint32_t count) {
  if (count == kScaleBlock) {
    std::memcpy(to, block, kScaleBlock * sizeof(T));
  } else {
    std::memcpy(to, block, count * sizeof(T));
  }
}

// Magnitudes compare like their bits, and a NaN's bits are above infinity's. So the greatest positive value is the
// signed maximum of all bits, the least negative one the unsigned maximum, and neither overlooks a NaN.
template <class L, bool kScaled>
[[gnu::always_inline]] inline void row_range(const float* in, const float* input_scale, size_t cols, typename L::I& hi_out,
                                             typename L::I& lo_out) {
  auto hi = L::set(int32_t{0});
  auto lo = L::set(kSignBit);
  const auto widen = [&](auto lanes, size_t c) __attribute__((always_inline)) {
    auto x = lanes.load(in + c);
    if constexpr (kScaled) x = x * lanes.load(input_scale + c);
    hi = L::max_signed(hi, L::bits(x));
    lo = L::max_unsigned(lo, L::bits(x));
  };
  constexpr uint32_t k = L::kLanes;
  size_t c = 0;
  for (; c + 4 * k <= cols; c += 4 * k) {
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4 * k; i += k) widen(Whole<L>{}, c + i);
  }
  each_vector<L>(cols - c, [&](auto lanes, size_t i) __attribute__((always_inline)) { widen(lanes, c + i); });
  hi_out = hi;
  lo_out = lo;
}

// The lanes of a row's range that was found before.
template <class L>
[[gnu::always_inline]] inline void known_range(const int32_t* range, typename L::I& hi_out, typename L::I& lo_out) {
  hi_out = L::load(range);
  lo_out = L::load(range + kSumLanes);
  for (uint32_t i = L::kLanes; i < kSumLanes; i += L::kLanes) {
    hi_out = L::max_signed(hi_out, L::load(range + i));
    lo_out = L::max_unsigned(lo_out, L::load(range + kSumLanes + i));
  }
}

// Ranges of some rows, and what follows from them for each.
template <class L>
struct RowScales {
  alignas(64) int32_t hi[kScaleBlock] = {};
  alignas(64) int32_t lo[kScaleBlock] = {};
  alignas(64) float inverse[kScaleBlock];
  alignas(64) int32_t zero[kScaleBlock];
  alignas(64) int32_t finite[kScaleBlock];

  template <uint32_t kRows>
  [[gnu::always_inline]] void take(const QuantizeRows& args, uint32_t first, uint32_t i) {
    typename L::I his[kRows], los[kRows];
#pragma GCC unroll 4
    for (uint32_t r = 0; r < kRows; ++r) {
      const uint64_t row = first + i + r;
      if (args.ranges) {
        known_range<L>(args.ranges + row * kRangeElems, his[r], los[r]);
      } else if (args.input_scale) {
        row_range<L, true>(args.in + row * args.in_stride, args.input_scale, args.cols, his[r], los[r]);
      } else {
        row_range<L, false>(args.in + row * args.in_stride, nullptr, args.cols, his[r], los[r]);
      }
    }
    fold_max_signed_rows<L>(his, hi + i);
    fold_max_unsigned_rows<L>(los, lo + i);
  }

  // Rows `first` to `first + count`.
  [[gnu::noinline]] void find(const QuantizeRows& args, uint32_t first, uint32_t count) {
    uint32_t i = 0;
    for (; kFoldRows<L> > 1 && i + kFoldRows<L> <= count; i += kFoldRows<L>) take<kFoldRows<L>>(args, first, i);
    for (; i < count; ++i) take<1>(args, first, i);
    alignas(64) float scale[kScaleBlock];
    alignas(64) int32_t shifted[kScaleBlock];
    for (uint32_t at = 0; at < kScaleBlock; at += L::kLanes) {
      const auto most = L::load(hi + at), least = L::load(lo + at);
      const auto top = L::from_bits(L::max_signed(most, L::bit_and(least, L::set(~kSignBit))));
      const auto is_finite = top < L::set(One<L>::infinity());
      const auto low = L::from_bits(least);
      const auto step = L::at_least((L::from_bits(most) - low) * L::set(1.0f / 255.0f), kLeastScale);
      const auto of_one = L::divide(L::set(1.0f), step);
      const auto place = L::at_most((L::set(0.0f) - low) * of_one, 255.0f);
      const auto point = L::nearest(L::select(is_finite, place, L::set(128.0f))) - L::set(128);
      L::store(scale + at, L::select(is_finite, step, L::set(One<L>::nan())));
      L::store(inverse + at, of_one);
      L::store(zero + at, point);
      L::store(shifted + at, point + L::set(args.flip ? 128 : 0));
      L::store(finite + at, L::bits(L::select(is_finite, L::set(1.0f), L::set(0.0f))));
    }
    store_block<L>(args.scale + first, scale, count);
    store_block<L>(args.zero + first, shifted, count);
  }
};

// A row's bytes, those of 8 inputs `kApart` bytes from those of the 8 before.
template <class L, bool kScaled, uint32_t kApart>
[[gnu::always_inline]] inline void quantize_row(const QuantizeRows& args, const RowScales<L>& scales, uint32_t first,
                                                uint32_t r) {
  using F = typename L::F;
  constexpr uint32_t k = L::kLanes;
  const float* in = args.in + r * args.in_stride;
  const float* input_scale = args.input_scale;
  uint8_t* out = kApart == 8 ? args.out + r * args.out_stride : args.out + r / 4 * 4 * args.out_stride + r % 4 * 8;
  const size_t cols = args.cols;
  const uint8_t flip = args.flip;

  const float inverse = scales.inverse[r - first];
  const int32_t zero = scales.zero[r - first];
  const size_t padded = (cols + 3) / 4 * 4;
  if (scales.finite[r - first] == 0) {
    if constexpr (kApart == 8) {
      std::memset(out, flip, padded);
    } else {
      for (size_t c = 0; c < padded; c += 8) std::memset(out + c / 8 * kApart, flip, 8);
    }
    return;
  }

  const auto rounded = [&](auto lanes, size_t c) __attribute__((always_inline)) {
    F x = lanes.load(in + c);
    if constexpr (kScaled) x = x * lanes.load(input_scale + c);
    return L::nearest(x * L::set(inverse));
  };
  const auto quantized = [&](auto lanes, size_t c) __attribute__((always_inline)) {
    return rounded(lanes, c) + L::set(zero);
  };
  const Whole<L> whole;
  size_t c = 0;
  if constexpr (kApart == 32) {
    static_assert(k == 16);
    for (; c + 2 * k <= cols; c += 2 * k) {
      L::store_woven(out + c * 4, static_cast<int16_t>(zero), rounded(whole, c));
      L::store_woven(out + c * 4 + 4 * k, static_cast<int16_t>(zero), rounded(whole, c + k));
    }
    for (; c + k <= cols; c += k) L::store_woven(out + c * 4, static_cast<int16_t>(zero), rounded(whole, c));
    if (c < cols) {
      uint8_t rest[k];
      L::store_bytes(rest, flip, quantized(Part<L>{8}, c));
      std::memcpy(out + c * 4, rest, 8);
    }
    return;
  }
  for (; c + 4 * k <= cols; c += 4 * k) {
    const auto a = quantized(whole, c), b = quantized(whole, c + k);
    L::store_bytes(out + c, flip, a, b, quantized(whole, c + 2 * k), quantized(whole, c + 3 * k));
  }
  if (c < cols) {
    // The rest goes through a buffer; what is not there is read as 0.
    uint8_t rest[4 * k];
    typename L::I q[4];
    for (uint32_t i = 0; i < 4; ++i) {
      const size_t first = c + i * k;
      q[i] = first < cols ? quantized(Part<L>{static_cast<uint32_t>(cols - first < k ? cols - first : k)}, first) : L::set(int32_t{0});
    }
    L::store_bytes(rest, flip, q[0], q[1], q[2], q[3]);
    std::memcpy(out + c, rest, cols - c);
  }
  for (c = cols; c < padded; ++c) out[c] = flip;
}

// Ranges of so many rows are found before the first is read again, in the first cache.
constexpr uint32_t kRangeBlock = 8;

template <class L, bool kScaled, uint32_t kApart>
[[gnu::always_inline]] inline void quantize_all(const QuantizeRows& args) {
  for (uint32_t first = 0, rows; first < args.rows; first += rows) {
    rows = One<L>::least(args.ranges ? kScaleBlock : kRangeBlock, args.rows - first);
    RowScales<L> scales;
    scales.find(args, first, rows);
    for (uint32_t r = first; r < first + rows; ++r) quantize_row<L, kScaled, kApart>(args, scales, first, r);
  }
}

template <class L>
void quantize_rows(const QuantizeRows& args) {
  if constexpr (L::kWeaves) {
    if (args.woven) return args.input_scale ? quantize_all<L, true, 32>(args) : quantize_all<L, false, 32>(args);
  }
  args.input_scale ? quantize_all<L, true, 8>(args) : quantize_all<L, false, 8>(args);
}

// Bits of the greatest magnitudes of `count` rows, more than any number's where a row has a NaN.
template <class L, uint32_t kRows>
[[gnu::always_inline]] inline void greatest_of_rows(const float* in, uint64_t stride, uint32_t cols, int32_t* out) {
  typename L::I greatest[kRows];
#pragma GCC unroll 4
  for (uint32_t r = 0; r < kRows; ++r) {
    greatest[r] = L::set(int32_t{0});
    each_vector<L>(
        cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
          greatest[r] = L::max_signed(greatest[r], L::bit_and(L::bits(lanes.load(in + r * stride + c)), L::set(~kSignBit)));
        });
  }
  fold_max_signed_rows<L>(greatest, out);
}
template <class L>
[[gnu::always_inline]] inline void greatest_magnitudes(const float* in, uint64_t stride, uint32_t count, uint32_t cols, int32_t* out) {
  constexpr uint32_t kRows = kFoldRows<L>;
  uint32_t r = 0;
  for (; kRows > 1 && r + kRows <= count; r += kRows) greatest_of_rows<L, kRows>(in + r * stride, stride, cols, out + r);
  for (; r < count; ++r) greatest_of_rows<L, 1>(in + r * stride, stride, cols, out + r);
}

// Symmetric scales of rows with these greatest magnitudes, and 1 / scale. A row with a value that is not finite has
// scale NaN, and `inverse` 0 for a sign that everything becomes q = 0.
template <class L>
struct SymmetricScales {
  alignas(64) int32_t greatest[kScaleBlock] = {};
  alignas(64) float inverse[kScaleBlock];

  // All are found, and `count` stored.
  [[gnu::noinline]] void find(uint32_t count, float* scale) {
    alignas(64) float all[kScaleBlock];
    for (uint32_t i = 0; i < kScaleBlock; i += L::kLanes) {
      const auto top = L::from_bits(L::load(greatest + i));
      const auto finite = top < L::set(One<L>::infinity());
      const auto step = L::at_least(top * L::set(1.0f / 127.0f), kLeastScale);
      L::store(all + i, L::select(finite, step, L::set(One<L>::nan())));
      L::store(inverse + i, L::select(finite, L::divide(L::set(1.0f), step), L::set(0.0f)));
    }
    store_block<L>(scale, all, count);
  }
  [[gnu::always_inline]] bool finite_four(uint32_t first) const {
    const float* i = inverse + first;
    return i[0] != 0.0f && i[1] != 0.0f && i[2] != 0.0f && i[3] != 0.0f;
  }
};

template <class L>
[[gnu::always_inline]] inline typename L::I symmetric(typename L::F x, float inverse) {
  return L::nearest(x * L::set(inverse));
}

// One head's bytes, zeros up to whole groups of 4.
template <class L>
[[gnu::always_inline]] inline void quantize_head(const float* in, uint32_t head_dim, float inverse, uint8_t flip,
                                                 uint8_t* out) {
  constexpr uint32_t k = L::kLanes;
  const uint32_t padded = (head_dim + 3) / 4 * 4;
  if (inverse == 0.0f) {
    std::memset(out, flip, padded);
    return;
  }
  uint32_t c = 0;
  for (; c + k <= head_dim; c += k) L::store_bytes(out + c, flip, symmetric<L>(L::load(in + c), inverse));
  for (; c < padded; c += k) {
    uint8_t rest[k];
    L::store_bytes(rest, flip, symmetric<L>(L::load_part(in + c, c < head_dim ? head_dim - c : 0), inverse));
    std::memcpy(out + c, rest, One<L>::least(k, padded - c));
  }
}

template <class L>
void quantize_heads(const QuantizeHeads& args) {
  const uint32_t head_dim = args.head_dim, padded = (head_dim + 3) / 4 * 4;
  for (uint32_t r = 0; r < args.rows; ++r) {
    for (uint32_t first = 0; first < args.heads; first += kScaleBlock) {
      const uint32_t heads = One<L>::least(kScaleBlock, args.heads - first);
      const float* in = args.in + r * args.in_stride + uint64_t{first} * head_dim;
      const uint64_t slot = uint64_t{r} * args.heads + first;
      SymmetricScales<L> s;
      greatest_magnitudes<L>(in, head_dim, heads, head_dim, s.greatest);
      s.find(heads, args.scale + slot);
      for (uint32_t h = 0; h < heads; ++h) {
        quantize_head<L>(in + uint64_t{h} * head_dim, head_dim, s.inverse[h], args.flip,
                         args.out + (slot + h) * padded);
      }
    }
  }
}

}  // namespace heed::simd
