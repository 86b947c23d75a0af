// Rows to int8: with a zero point (activations), or symmetric per head (queries, keys, values).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/lanes.h"

namespace heed::simd {

constexpr int32_t kInfinityBits = 0x7f800000;
constexpr int32_t kSignBit = INT32_MIN;

// Magnitudes compare like their bits, and a NaN's bits are above infinity's. So the greatest positive value is the
// signed maximum of all bits, the least negative one the unsigned maximum, and neither overlooks a NaN.
template <class L>
struct RowRange {
  float lo;  // at most 0
  float hi;  // at least 0
  bool finite;
};

template <class L, bool kScaled>
[[gnu::always_inline]] inline RowRange<L> row_range(const float* in, const float* input_scale, size_t cols) {
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
  const int32_t hi_bits = L::fold_max_signed(hi);
  const int32_t lo_bits = L::fold_max_unsigned(lo);
  return {One<L>::from_bits(lo_bits), One<L>::from_bits(hi_bits),
          hi_bits < kInfinityBits && (lo_bits & ~kSignBit) < kInfinityBits};
}

// A row's bytes, those of 8 inputs `kApart` bytes from those of the 8 before.
template <class L, bool kScaled, uint32_t kApart>
[[gnu::always_inline]] inline void quantize_row(const QuantizeRows& args, uint32_t r) {
  using F = typename L::F;
  constexpr uint32_t k = L::kLanes;
  const float* in = args.in + r * args.in_stride;
  const float* input_scale = args.input_scale;
  uint8_t* out = kApart == 8 ? args.out + r * args.out_stride : args.out + r / 4 * 4 * args.out_stride + r % 4 * 8;
  const size_t cols = args.cols;
  const uint8_t flip = args.flip;

  const RowRange<L> range = row_range<L, kScaled>(in, input_scale, cols);
  const float span = (range.hi - range.lo) * (1.0f / 255.0f);
  const float scale = span > kLeastScale ? span : kLeastScale;
  const float inverse = 1.0f / scale;
  int32_t zero = range.finite ? One<L>::nearest(-range.lo * inverse) - 128 : 0;
  if (zero > 127) zero = 127;
  args.scale[r] = range.finite ? scale : One<L>::nan();
  args.zero[r] = zero + (flip ? 128 : 0);
  const size_t padded = (cols + 3) / 4 * 4;
  if (!range.finite) {
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

template <class L>
void quantize_rows(const QuantizeRows& args) {
  if constexpr (L::kWeaves) {
    if (args.woven) {
      for (uint32_t r = 0; r < args.rows; ++r) {
        args.input_scale ? quantize_row<L, true, 32>(args, r) : quantize_row<L, false, 32>(args, r);
      }
      return;
    }
  }
  for (uint32_t r = 0; r < args.rows; ++r) {
    args.input_scale ? quantize_row<L, true, 8>(args, r) : quantize_row<L, false, 8>(args, r);
  }
}

constexpr uint32_t kScaleBlock = 16;  // rows or heads whose scales are found side by side, before the first is needed

// The greatest magnitude of a row, more than any number where it has a NaN.
template <class L>
[[gnu::always_inline]] inline float greatest_magnitude(const float* in, uint32_t cols) {
  auto greatest = L::set(int32_t{0});
  each_vector<L>(
      cols, [&](auto lanes, size_t c) __attribute__((always_inline)) {
        greatest = L::max_signed(greatest, L::bit_and(L::bits(lanes.load(in + c)), L::set(~kSignBit)));
      });
  return One<L>::from_bits(L::fold_max_signed(greatest));
}

// Symmetric scales of rows with these greatest magnitudes, and 1 / scale. A row with a value that is not finite has
// scale NaN, and `inverse` 0 for a sign that everything becomes q = 0.
template <class L>
struct SymmetricScales {
  alignas(64) float greatest[kScaleBlock] = {};
  alignas(64) float inverse[kScaleBlock];

  [[gnu::always_inline]] void find(uint32_t count, float* scale) {
    each_vector<L>(
        count, [&](auto lanes, size_t i) __attribute__((always_inline)) {
          const auto top = L::load(greatest + i);
          const auto finite = top < L::set(One<L>::infinity());
          const auto step = L::at_least(top * L::set(1.0f / 127.0f), kLeastScale);
          lanes.store(scale + i, L::select(finite, step, L::set(One<L>::nan())));
          L::store(inverse + i, L::select(finite, L::divide(L::set(1.0f), step), L::set(0.0f)));
        });
  }
  [[gnu::always_inline]] bool finite(uint32_t first, uint32_t count) const {
    bool all = true;
    for (uint32_t i = first; i < first + count; ++i) all = all && inverse[i] != 0.0f;
    return all;
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
      for (uint32_t h = 0; h < heads; ++h) s.greatest[h] = greatest_magnitude<L>(in + uint64_t{h} * head_dim, head_dim);
      s.find(heads, args.scale + slot);
      for (uint32_t h = 0; h < heads; ++h) {
        quantize_head<L>(in + uint64_t{h} * head_dim, head_dim, s.inverse[h], args.flip,
                         args.out + (slot + h) * padded);
      }
    }
  }
}

}  // namespace heed::simd
