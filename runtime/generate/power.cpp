// Powers of lengths.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"

#include "generate/power.h"
#include "kernels/simd/lanes_scalar.h"
#include "kernels/simd/math.h"

namespace heed {

float power(uint32_t count, float exponent) {
  using L = simd::ScalarLanes;
  const float base = static_cast<float>(count);
  if (exponent == 0.0f) return 1.0f;
  if (exponent == 1.0f) return base;
  return simd::exp2<L>(exponent * simd::log2<L>(base));
}

}  // namespace heed
