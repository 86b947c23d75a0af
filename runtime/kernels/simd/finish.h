// From products to stored rows: dequantize, bias, activation, factor, residual.
// SPDX-License-Identifier: Apache-2.0
#pragma once
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
      : c(args.c + o), scale(args.scale), zero(args.zero), w_scale(L::load(args.w_scale + o)), w_sum(L::load(args.w_sum + o)) {}
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
  [[gnu::always_inline]] typename L::F at(uint32_t r, uint32_t c_stride) const { return L::load(c + uint64_t{r} * c_stride); }
};

// What follows the activation; decided outside the loops.
enum class Extras : uint8_t { kNone, kResidual, kAny };

// `outputs` is a multiple of the lanes.
template <class L, class Product, ActivationFunction function, Extras extras>
void finish_columns(const typename Product::Args& args, uint32_t outputs) {
  const Epilogue e = args.epilogue;
  const uint32_t rows = args.rows, c_stride = args.c_stride;
  const Whole<L> whole;
  for (uint32_t o = 0; o < outputs; o += L::kLanes) {
    const Product product(args, o);
    const auto bias = e.bias ? L::load(e.bias + o) : L::set(0.0f);
    float* out = e.out + o;
    const float* factor = e.factor + o;
    const float* residual = e.residual + o;
    for (uint32_t r = 0; r < rows; ++r) {
      auto y = activation<L, function>(product.at(r, c_stride) + bias);
      if constexpr (extras == Extras::kAny) {
        if (e.factor) y = y * L::load(factor + r * e.factor_stride);
        if (e.residual) y = y + L::load(residual + r * e.residual_stride);
      }
      if constexpr (extras == Extras::kResidual) y = y + L::load(residual + r * e.residual_stride);
      whole.store(out + r * e.out_stride, y);
    }
  }
}

template <class L, class Product>
using FinishColumns = void (*)(const typename Product::Args& args, uint32_t outputs);

template <class L, class Product>
FinishColumns<L, Product> finish_columns_for(const Epilogue& e) {
  if (e.activation == ActivationFunction::kNone && e.residual && !e.factor) {
    return finish_columns<L, Product, ActivationFunction::kNone, Extras::kResidual>;
  }
  return with_activation<L>(e.activation, [&](auto function) -> FinishColumns<L, Product> {
    constexpr ActivationFunction kFunction = decltype(function)::value;
    if (e.residual || e.factor) return finish_columns<L, Product, kFunction, Extras::kAny>;
    return finish_columns<L, Product, kFunction, Extras::kNone>;
  });
}

// One row of fewer outputs than lanes, beside copies of what is read: nothing past its end is touched.
template <class L>
struct FinishRest {
  static constexpr uint32_t k = L::kLanes;
  float bias[k] = {}, factor[k] = {}, residual[k] = {}, out[k], w_scale[k] = {};
  int32_t w_sum[k] = {};

  // `e` as it is for row r and the outputs from o on.
  Epilogue row(const Epilogue& e, uint32_t r, uint32_t o, uint32_t count) {
    Epilogue one = {copy(bias, e.bias, o, count), e.activation, nullptr, 0, nullptr, 0, out, 0};
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
  columns(args, whole);
  for (uint32_t r = 0; whole < outputs && r < args.rows; ++r) {
    FinishRest<L> rest;
    auto one = args;
    one.c += uint64_t{r} * args.c_stride + whole;  // rows of c are padded
    one.rows = 1;
    one.epilogue = rest.row(args.epilogue, r, whole, outputs - whole);
    rest.row(one, r, whole, outputs - whole);
    columns(one, L::kLanes);
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
