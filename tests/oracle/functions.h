// The functions that kernels compute, in double precision and from their formulas; nothing here calls heed's code.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace heed::oracle {

inline double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double silu(double x) { return x / (1 + std::exp(-x)); }
inline double gelu_tanh(double x) {
  // 0.5 (1 + tanh u) = sigmoid(2 u), which does not cancel far below 0.
  return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
}
inline double relu(double x) { return x > 0 ? x : 0; }

// Weights 2^(logits - max) * factors over their sum; logits of -infinity get 0, and so does a row of nothing else.
inline std::vector<double> softmax2(const std::vector<double>& logits) {
  std::vector<double> weights(logits.size(), 0.0);
  const double top = logits.empty() ? 0 : *std::max_element(logits.begin(), logits.end());
  if (!(top > -std::numeric_limits<double>::infinity())) return weights;
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) sum += weights[i] = std::exp2(logits[i] - top);
  for (double& weight : weights) weight /= sum;
  return weights;
}

// The value of an IEEE half, from its fields.
inline double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31)
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}

}  // namespace heed::oracle
