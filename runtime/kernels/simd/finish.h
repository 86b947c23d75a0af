// From products to stored rows: dequantize, bias, activation, factor, residual.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

#include "kernels/simd/math.h"

namespace heed::simd {

// The product of some outputs as float, with what belongs to the outputs kept while rows go by.
template <class L>
struct ProductI8 {
  using Args = FinishI8;
  const int32_t* c;
  const float* scale;
  const int32_t* zero;
  typename L::F w_scale;
  typename L::I w_sum;

  [[gnu::always_inline]] ProductI8(const Args& args, uint32_t o)
      : c(args.c + o),
        scale(args.scale),
        zero(args.zero),
        w_scale(L::load(args.w_scale + o)),
        w_sum(L::load(args.w_sum + o)) {}
  [[gnu::always_inline]] typename L::F at(uint32_t r, uint32_t c_stride) const {
    const auto exact = L::load(c + uint64_t{r} * c_stride) - L::set(zero[r]) * w_sum;
    return (L::to_float(exact) * L::set(scale[r])) * w_scale;
  }
};

template <class L>
struct ProductF32 {
  using Args = FinishF32;
  const float* c;

  [[gnu::always_inline]] ProductF32(const Args& args, uint32_t o) : c(args.c + o) {}
  [[gnu::always_inline]] typename L::F at(uint32_t r, uint32_t c_stride) const {
    return L::load(c + uint64_t{r} * c_stride);
  }
};

// Epilogues are read field by field: a copy of one that was just written, in wide registers, waits for it.

// y = product + bias, or that + residual. `outputs` is a multiple of the lanes.
template <class L, class Product, bool kResidual>
void finish_plain(const typename Product::Args& args, uint32_t outputs, ActivateBlock<L>) {
  const Epilogue& e = args.epilogue;
  const uint64_t out_stride = e.out_stride, residual_stride = e.residual_stride;
  const uint32_t rows = args.rows, c_stride = args.c_stride;
  for (uint32_t o = 0; o < outputs; o += L::kLanes) {
    const Product product(args, o);
    const auto bias = e.bias ? L::load(e.bias + o) : L::set(0.0f);
    float* out = e.out + o;
    const float* residual = kResidual ? e.residual + o : nullptr;
    for (uint32_t r = 0; r < rows; ++r) {
      auto y = product.at(r, c_stride) + bias;
      if constexpr (kResidual) y = y + L::load(residual + r * residual_stride);
      Whole<L>{}.store(out + r * out_stride, y);
    }
  }
}

// What is activated to its rows' outputs from o on; returns where the next ones are.
template <class L>
[[gnu::always_inline]] inline const float* store_activated(const Epilogue& e, uint32_t first, uint32_t rows, uint32_t o,
                                                           const float* from) {
  const uint64_t stride = e.out_stride;
  float* out = e.out + first * stride + o;
  for (uint32_t r = 0; r < rows; ++r, from += L::kLanes, out += stride) Whole<L>{}.store(out, L::load(from));
  return from;
}

// The same times the factor, plus the residual.
template <class L>
[[gnu::always_inline]] inline const float* store_combined(const Epilogue& e, uint64_t first, uint32_t rows, uint32_t o,
                                                          const float* from) {
  for (uint64_t r = first; r < first + rows; ++r, from += L::kLanes) {
    auto y = L::load(from);
    if (e.factor) y = y * L::load(e.factor + r * e.factor_stride + o);
    if (e.residual) y = y + L::load(e.residual + r * e.residual_stride + o);
    Whole<L>{}.store(e.out + r * e.out_stride + o, y);
  }
  return from;
}

// The same of a whole block of outputs, start to end, that QuantizeRows reads next; `from` as activate left it.
template <class L>
[[gnu::always_inline]] inline void store_ranged(const Epilogue& e, uint32_t first, uint32_t rows, uint32_t start, uint32_t end, const float* from) {
  constexpr uint32_t k = L::kLanes;
  for (uint64_t i = 0; i < rows; ++i) {
    const uint64_t r = first + i;
    for (uint32_t lane = 0; lane < kSumLanes && start + lane < end; lane += k) {
      int32_t* range = e.ranges + r * kRangeElems + lane;
      auto hi = L::load(range), lo = L::load(range + kSumLanes);
      for (uint64_t o = start + lane; o < end; o += kSumLanes) {
        auto y = L::load(from + (o - start) * rows + i * k);
        if (e.factor) y = y * L::load(e.factor + r * e.factor_stride + o);
        if (e.residual) y = y + L::load(e.residual + r * e.residual_stride + o);
        L::store(e.out + r * e.out_stride + o, y);
        hi = L::max_signed(hi, L::bits(y));
        lo = L::max_unsigned(lo, L::bits(y));
      }
      L::store(range, hi);
      L::store(range + kSumLanes, lo);
    }
  }
}

// The whole epilogue: the products of a block (a tile of multiply_i8 is one) are stored side by side, activated, and
// taken through the rest.
template <class L, class Product>
void finish_activated(const typename Product::Args& args, uint32_t outputs, ActivateBlock<L> activate) {
  constexpr uint32_t k = L::kLanes, kRows = 16;
  const Epilogue& e = args.epilogue;
  const uint32_t c_stride = args.c_stride;
  alignas(64) float block[kActivationBlock];
  for (uint32_t first = 0; first < args.rows; first += kRows) {
    const uint32_t rows = One<L>::least(kRows, args.rows - first);
    const uint32_t cols = rows > kRows / 2 ? kActivationBlock / kRows : kActivationBlock / (kRows / 2);
    for (uint32_t start = 0; start < outputs; start += cols) {
      const uint32_t end = One<L>::least(start + cols, outputs);
      float* end_of_block = block;
      for (uint32_t o = start; o < end; o += k) {
        const Product product(args, o);
        const auto bias = e.bias ? L::load(e.bias + o) : L::set(0.0f);
        for (uint32_t r = first; r < first + rows; ++r, end_of_block += k) {
          L::store(end_of_block, product.at(r, c_stride) + bias);
        }
      }
      if (activate) activate(block, static_cast<uint32_t>(end_of_block - block));
      if (e.ranges) {
        store_ranged<L>(e, first, rows, start, end, block);
        continue;
      }
      const float* next = block;
      for (uint32_t o = start; o < end; o += k) {
        next = e.factor || e.residual ? store_combined<L>(e, first, rows, o, next) : store_activated<L>(e, first, rows, o, next);
      }
    }
  }
}

// kRows rows, which QuantizeRows reads next, from int8 product to range without a stop in memory: for the activation that
// most feed-forward layers have, since each would be code of its own, and where chains run side by side.
template <class L, uint32_t kRows>
[[gnu::always_inline]] inline void finish_gelu_rows(const FinishI8& args, uint32_t outputs, uint64_t first) {
  using Chains = Several<L, kRows>;
  const Epilogue& e = args.epilogue;
  for (uint32_t lane = 0; lane < kSumLanes && lane < outputs; lane += L::kLanes) {
    int32_t* range = e.ranges + first * kRangeElems + lane;
    typename Chains::I hi, lo;
#pragma GCC unroll 4
    for (uint32_t r = 0; r < kRows; ++r) {
      hi.v[r] = L::load(range + r * kRangeElems);
      lo.v[r] = L::load(range + r * kRangeElems + kSumLanes);
    }
    for (uint32_t o = lane; o < outputs; o += kSumLanes) {
      const ProductI8<L> product(args, o);
      const auto bias = e.bias ? L::load(e.bias + o) : L::set(0.0f);
      typename Chains::F y;
#pragma GCC unroll 4
      for (uint32_t r = 0; r < kRows; ++r) y.v[r] = product.at(static_cast<uint32_t>(first) + r, args.c_stride) + bias;
      y = gelu_for_int8<Chains>(y);
#pragma GCC unroll 4
      for (uint32_t r = 0; r < kRows; ++r) {
        if (e.factor) y.v[r] = y.v[r] * L::load(e.factor + (first + r) * e.factor_stride + o);
        if (e.residual) y.v[r] = y.v[r] + L::load(e.residual + (first + r) * e.residual_stride + o);
        L::store(e.out + (first + r) * e.out_stride + o, y.v[r]);
      }
      hi = Chains::max_signed(hi, Chains::bits(y));
      lo = Chains::max_unsigned(lo, Chains::bits(y));
    }
#pragma GCC unroll 4
    for (uint32_t r = 0; r < kRows; ++r) {
      L::store(range + r * kRangeElems, hi.v[r]);
      L::store(range + r * kRangeElems + kSumLanes, lo.v[r]);
    }
  }
}
template <class L>
void finish_gelu(const FinishI8& args, uint32_t outputs, ActivateBlock<L>) {
  uint32_t r = 0;
  for (; r + L::kChains <= args.rows; r += L::kChains) {
    finish_gelu_rows<L, L::kChains>(args, outputs, r);
  }
  for (; r < args.rows; ++r) finish_gelu_rows<L, 1>(args, outputs, r);
}

template <class L, class Product>
using FinishColumns = void (*)(const typename Product::Args& args, uint32_t outputs, ActivateBlock<L> activate);

template <class L, class Product>
FinishColumns<L, Product> finish_columns_for(const Epilogue& e) {
  if constexpr (L::kChains > 1 && std::is_same_v<Product, ProductI8<L>>) {
    if (e.ranges && e.activation == ActivationFunction::kGelu) return finish_gelu<L>;
  }
  if (e.activation != ActivationFunction::kNone || e.factor || e.ranges) return finish_activated<L, Product>;
  return e.residual ? finish_plain<L, Product, true> : finish_plain<L, Product, false>;
}

// One row of fewer outputs than lanes, beside copies of what is read: nothing past its end is touched.
template <class L>
struct FinishRest {
  static constexpr uint32_t k = L::kLanes;
  float bias[k] = {}, factor[k] = {}, residual[k] = {}, out[k], w_scale[k] = {};
  int32_t w_sum[k] = {}, ranges[kRangeElems] = {};

  // `e` as it is for row r and the outputs from o on.
  Epilogue row(const Epilogue& e, uint32_t r, uint32_t o, uint32_t count) {
    Epilogue one = {copy(bias, e.bias, o, count), e.activation, nullptr, 0, nullptr, 0, out, 0, e.ranges ? ranges : nullptr};
    one.factor = copy(factor, e.factor, o + r * e.factor_stride, count);
    one.residual = copy(residual, e.residual, o + r * e.residual_stride, count);
    return one;
  }
  void row(FinishI8& args, uint32_t r, uint32_t o, uint32_t count) {
    args.scale += r;
    args.zero += r;
    args.w_scale = copy(w_scale, args.w_scale, o, count);
    args.w_sum = copy(w_sum, args.w_sum, o, count);
  }
  void row(FinishF32&, uint32_t, uint32_t, uint32_t) {}

  // What is there of `out`, into the row's own ranges.
  void widen(const Epilogue& e, uint32_t r, uint32_t o, uint32_t count) const {
    int32_t* range = e.ranges + uint64_t{r} * kRangeElems + o % kSumLanes;
    const auto y = L::bits(L::load_part(out, count));
    L::store(range, L::max_signed(L::load(range), y));
    L::store(range + kSumLanes, L::max_unsigned(L::load(range + kSumLanes), y));
  }

 private:
  template <class T>
  static const T* copy(T* to, const T* from, uint64_t offset, uint32_t count) {
    if (!from) return nullptr;
    std::memcpy(to, from + offset, count * sizeof(T));
    return to;
  }
};

template <class L, class Product>
void finish(const typename Product::Args& args) {
  const uint32_t outputs = args.outputs, whole = outputs - outputs % L::kLanes;
  const FinishColumns<L, Product> columns = finish_columns_for<L, Product>(args.epilogue);
  const ActivateBlock<L> activate = activate_block_for<L>(args.epilogue.activation, args.epilogue.ranges != nullptr);
  columns(args, whole, activate);
  for (uint32_t r = 0; whole < outputs && r < args.rows; ++r) {
    FinishRest<L> rest;
    auto one = args;
    one.c += uint64_t{r} * args.c_stride + whole;  // rows of c are padded
    one.rows = 1;
    one.epilogue = rest.row(args.epilogue, r, whole, outputs - whole);
    rest.row(one, r, whole, outputs - whole);
    columns(one, L::kLanes, activate);
    if (args.epilogue.ranges) rest.widen(args.epilogue, r, whole, outputs - whole);
    std::memcpy(args.epilogue.out + r * args.epilogue.out_stride + whole, rest.out, (outputs - whole) * sizeof(float));
  }
}

template <class L>
void finish_i8(const FinishI8& args) {
  finish<L, ProductI8<L>>(args);
}

template <class L>
void finish_f32(const FinishF32& args) {
  finish<L, ProductF32<L>>(args);
}

}  // namespace heed::simd
