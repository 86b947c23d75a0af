// Logarithms of sums, and powers.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"

#include "generate/log_sum.h"
#include "kernels/simd/lanes_scalar.h"
#include "kernels/simd/math.h"

namespace heed {
namespace {

using L = simd::ScalarLanes;
constexpr float kLn2 = 0x1.62e430p-1f;

}  // namespace

float log_sum(const float* x, uint32_t count) {
  float greatest = x[0];
  for (uint32_t i = 1; i < count; ++i) greatest = x[i] > greatest ? x[i] : greatest;
  const float sum = simd::sum_row<L>(
      count, [&](auto lanes, uint32_t i) { return simd::exp2<L>((lanes.load(x + i) - greatest) * kLog2E); });
  return greatest + kLn2 * simd::log2<L>(sum);
}

float power(uint32_t count, float exponent) {
  const float base = static_cast<float>(count);
  if (exponent == 0.0f) return 1.0f;
  if (exponent == 1.0f) return base;
  return simd::exp2<L>(exponent * simd::log2<L>(base));
}

}  // namespace heed
