// exp2, log2, erf's GELU, tanh, sigmoid, SiLU: polynomials, the same bits for every number of lanes.
// SPDX-License-Identifier: Apache-2.0
//
// Coefficients are derived by tools/golden/polynomials.py, constant term first. A NaN gives a NaN (L::storable makes
// it the one NaN). Errors are those of the code as executed, in float, against the exact function.
#pragma once
#include "kernels/simd/lanes.h"
#include "kernels/simd/lanes_several.h"

namespace heed::simd {

// c0 + c1 x + c2 x^2 + ..., by Horner's rule.
template <class L, class... Rest>
[[gnu::always_inline]] inline typename L::F polynomial(typename L::F x, float c0, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return L::set(c0);
  } else {
    return polynomial<L>(x, rest...) * x + L::set(c0);
  }
}

// c 2^x for x <= 128, `twice` being a polynomial that is about 2 c 2^f on [-1/2, 1/2]; exactly 0 from -125.5 down, so that no
// result is subnormal.
template <class L, class... Twice>
[[gnu::always_inline]] inline typename L::F scaled_exp2(typename L::F x, Twice... twice) {
  // The sum's last bits are round(x) + 126: the exponent of 2^(round(x) - 1), 0 if that would not be normal.
  const auto magic = L::set(0x1.8p23f + 126.0f);
  x = L::at_least(x, -126.0f);
  const auto sum = x + magic;
  return polynomial<L>(x - (sum - magic), twice...) * L::from_bits(L::template shift_left<23>(L::bits(sum)));
}

// 2^x for x <= 128. Relative error 2e-7; exactly 1 at 0.
template <class L>
[[gnu::always_inline]] inline typename L::F exp2(typename L::F x) {
  return scaled_exp2<L>(x, 0x1p+1f, 0x1.62e42ap+0f, 0x1.ebf9bcp-2f, 0x1.c6b752p-4f, 0x1.3cea88p-6f, 0x1.5bba14p-9f);
}

// 127 * 2^x for x <= 0, of which whole numbers are made. Relative error 3e-6; exactly 127 at 0.
template <class L>
[[gnu::always_inline]] inline typename L::F weight_exp2(typename L::F x) {
  return scaled_exp2<L>(x, 0x1.fcp+7f, 0x1.601b6ap+7f, 0x1.e82b7p+5f, 0x1.c6684ep+3f, 0x1.378ec8p+1f);
}

// log2(x) for normal positive x. Absolute error 1e-7 of max(1, |log2 x|); exact for powers of two.
template <class L>
[[gnu::always_inline]] inline typename L::F log2(typename L::F x) {
  const auto bits = L::bits(x);
  // x = 2^exponent * m with sqrt(1/2) <= m < sqrt(2).
  const auto exponent = L::template shift_right<23>(bits - L::set(0x3f3504f3));
  const auto m = L::from_bits(bits - L::template shift_left<23>(exponent)) - L::set(1.0f);
  const auto ratio = polynomial<L>(m, 0x1.715474p+0f, -0x1.71546ap-1f, 0x1.ec76f4p-2f, -0x1.7160e6p-2f, 0x1.268f78p-2f,
                                   -0x1.e87cep-3f, 0x1.bd316ap-3f, -0x1.aeb392p-3f, 0x1.00d844p-3f);
  return L::select(x == x, L::to_float(exponent) + m * ratio, x);
}

// x * Phi(x) = max(x, 0) - a * Phi(-a), a = |x|, where the fourth root of Phi(-a) is a polynomial that is 0 at 5.6.
// (Of the ways tried this takes the fewest operations: 23, no division.)
// Error 1.7e-7 of max(1, |x|).
template <class L, class... Root>
[[gnu::always_inline]] inline typename L::F gelu_of_root(typename L::F x, float end, Root... coefficients) {
  const auto a = L::least_magnitude(x, end);
  const auto root = polynomial<L>(a, coefficients...);
  const auto square = root * root;
  return L::at_least(x, 0.0f) - a * (square * square);
}
template <class L>
[[gnu::always_inline]] inline typename L::F gelu(typename L::F x) {
  return gelu_of_root<L>(x, 5.6f, 0x1.ae89eap-1f, -0x1.5782fcp-3f, -0x1.9b533ap-5f, 0x1.324898p-8f, 0x1.ee30cep-9f,
                         -0x1.4ad5ecp-16f, -0x1.47fafap-12f, 0x1.f21bbap-15f, -0x1.d1b2a4p-19f);
}
// The same for rows that become int8: 17 operations. Error 3.5e-5, and 2.4e-4 of |x|: an eighth of the least step that a row can have,
// unless all of it lies far below 0.
template <class L>
[[gnu::always_inline]] inline typename L::F gelu_for_int8(typename L::F x) {
  return gelu_of_root<L>(x, 4.6f, 0x1.ae96c6p-1f, -0x1.574816p-3f, -0x1.a63f9ap-5f, 0x1.9defe6p-8f, 0x1.ce61e8p-9f,
                         -0x1.2abdaep-11f);
}

// 1 / (1 + e^-x). Absolute error 2e-7.
template <class L>
[[gnu::always_inline]] inline typename L::F sigmoid(typename L::F x) {
  const auto power = exp2<L>(L::abs(x) * L::set(-kLog2E));
  const auto one = L::set(1.0f);
  return L::divide(L::select(x < L::set(0.0f), power, one), one + power);
}

// x / (1 + e^-x). Error 2e-7 of max(1, |x|). Far below 0 the limit, 0.
template <class L>
[[gnu::always_inline]] inline typename L::F silu(typename L::F x) {
  return L::at_least(x, -126.0f) * sigmoid<L>(x);
}

// x * sigmoid(2 * sqrt(2/pi) * (x + 0.044715 x^3)), GELU's formula with tanh. Error 3e-7 of max(1, |x|).
template <class L>
[[gnu::always_inline]] inline typename L::F gelu_tanh(typename L::F x) {
  // Where |x| > 16 the sigmoid is 0 or 1; the cube of larger ones could overflow.
  const auto near = L::at_least(L::at_most(x, 16.0f), -16.0f);
  const auto inner = near * (L::set(0x1.988454p+0f) + L::set(0x1.2444f2p-4f) * (near * near));
  return L::at_least(x, -16.0f) * sigmoid<L>(inner);
}

// Relative error 3e-7.
template <class L>
[[gnu::always_inline]] inline typename L::F tanh(typename L::F x) {
  const auto one = L::set(1.0f);
  const auto a = L::abs(x);
  const auto t = x * x;
  const auto bend = polynomial<L>(t, -0x1.55554cp-2f, 0x1.110d3cp-3f, -0x1.b92bbap-5f, 0x1.595686p-6f, -0x1.9bba6p-8f);
  const auto small = x + x * (t * bend);
  const auto power = exp2<L>(a * L::set(-2.0f * kLog2E));
  const auto large = L::divide(one - power, one + power);
  const auto sign = L::bit_and(L::bits(x), L::set(static_cast<int32_t>(0x80000000u)));
  // A NaN is to come from arithmetic, not with its sign put on.
  return L::select(L::set(0.55f) <= a, L::from_bits(L::bit_or(L::bits(large), sign)), small);
}

template <class L, ActivationFunction function, bool kForInt8 = false>
[[gnu::always_inline]] inline typename L::F activation(typename L::F x) {
  if constexpr (function == ActivationFunction::kGelu && kForInt8) return gelu_for_int8<L>(x);
  if constexpr (function == ActivationFunction::kRelu) return L::at_least(x, 0.0f);
  if constexpr (function == ActivationFunction::kGelu) return gelu<L>(x);
  if constexpr (function == ActivationFunction::kGeluTanh) return gelu_tanh<L>(x);
  if constexpr (function == ActivationFunction::kSilu) return silu<L>(x);
  if constexpr (function == ActivationFunction::kTanh) return tanh<L>(x);
  if constexpr (function == ActivationFunction::kSigmoid) return sigmoid<L>(x);
  return x;
}

// Activates `count` floats of a block in place, a multiple of the lanes. What it leaves is not yet storable.
constexpr uint32_t kActivationBlock = 768;

template <class L>
using ActivateBlock = void (*)(float* block, uint32_t count);

template <class L, ActivationFunction function, bool kForInt8 = false>
void activate_block(float* block, uint32_t count) {
  using Chains = Several<L, L::kChains>;
  static_assert(kActivationBlock % Chains::kLanes == 0);
  for (; count % Chains::kLanes != 0; count += L::kLanes) L::store(block + count, L::set(0.0f));
  for (const float* end = block + count; block != end; block += Chains::kLanes) {
    Chains::store(block, activation<Chains, function, kForInt8>(Chains::load(block)));
  }
}

// Null for none.
template <class L>
ActivateBlock<L> activate_block_for(ActivationFunction function, bool for_int8 = false) {
  using A = ActivationFunction;
  switch (function) {
    case A::kRelu:
      return activate_block<L, A::kRelu>;
    case A::kGelu:
      return for_int8 ? activate_block<L, A::kGelu, true> : activate_block<L, A::kGelu>;
    case A::kGeluTanh:
      return activate_block<L, A::kGeluTanh>;
    case A::kSilu:
      return activate_block<L, A::kSilu>;
    case A::kTanh:
      return activate_block<L, A::kTanh>;
    case A::kSigmoid:
      return activate_block<L, A::kSigmoid>;
    case A::kNone:
      break;
  }
  return nullptr;
}

}  // namespace heed::simd
