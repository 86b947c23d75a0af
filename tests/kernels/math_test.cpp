// exp2 and log2 against double precision, as the portable lanes compute them (all others give the same bits).
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"

#include "kernels/simd/lanes_scalar.h"
#include "kernels/simd/math.h"
#include "kernels/support/matrix.h"
#include "kernels/support/samples.h"
#include "oracle/functions.h"

namespace heed::tests {
namespace {

float exp2(float x) { return simd::exp2<simd::ScalarLanes>(x); }
float weight_exp2(float x) { return simd::weight_exp2<simd::ScalarLanes>(x); }
float log2(float x) { return simd::log2<simd::ScalarLanes>(x); }
float gelu_for_int8(float x) { return simd::gelu_for_int8<simd::ScalarLanes>(x); }

}  // namespace

TEST_CASE("exp2 has a relative error of at most 2e-7 where results are normal, and is exact for integers") {
  const uint32_t step = sample_step(67);
  double worst = 0;
  for (uint32_t bits = bits_of(0x1p-40f); bits < bits_of(125.5f); bits += step) {
    for (const float x : {float_of(bits), -float_of(bits)}) {
      worst = std::max(worst, std::fabs(exp2(x) / std::exp2(double{x}) - 1));
    }
  }
  CHECK(worst <= 2e-7);
  for (int n = -125; n <= 127; ++n) CHECK(exp2(static_cast<float>(n)) == std::ldexp(1.0f, n));
  CHECK(exp2(0.0f) == 1.0f);
  CHECK(exp2(-0.0f) == 1.0f);
}

TEST_CASE("127 * exp2 for attention weights has a relative error of at most 3e-6, and is exact for integers") {
  double worst = 0;
  for (uint32_t bits = bits_of(0x1p-40f); bits < bits_of(125.5f); bits += 67) {
    const float x = -float_of(bits);
    worst = std::max(worst, std::fabs(weight_exp2(x) / (127 * std::exp2(double{x})) - 1));
  }
  CHECK(worst <= 3e-6);
  for (int n = -119; n <= 0; ++n) CHECK(weight_exp2(static_cast<float>(n)) == std::ldexp(127.0f, n));
  for (const float x : {-125.5f, -126.0f, -150.0f, -1e30f, -kInf}) CHECK(bits_of(weight_exp2(x)) == 0);
  CHECK(std::isnan(weight_exp2(kNan)));
}

TEST_CASE("gelu for rows that become int8 errs by at most 3.5e-5, and 2.4e-4 of |x|") {
  double worst = 0, relative = 0;
  for (uint32_t bits = bits_of(0x1p-40f); bits < bits_of(100.0f); bits += 67) {
    for (const float x : {float_of(bits), -float_of(bits)}) {
      const double error = std::fabs(gelu_for_int8(x) - oracle::gelu(x));
      worst = std::max(worst, error / std::max(1.0, std::fabs(x) / 16.0));
      relative = std::max(relative, error / std::fabs(x));
    }
  }
  CHECK(worst <= 3.5e-5);
  CHECK(relative <= 2.4e-4);
  CHECK(gelu_for_int8(0.0f) == 0.0f);
  CHECK(gelu_for_int8(50.0f) == 50.0f);
  CHECK(std::fabs(gelu_for_int8(-50.0f)) <= 1e-20f);
  CHECK(std::isnan(gelu_for_int8(kNan)));
}

TEST_CASE("exp2 of very negative numbers is exactly 0 and never subnormal; of a NaN a NaN") {
  for (const float x : {-125.5f, -126.0f, -126.5f, -127.0f, -150.0f, -1e4f, -1e30f, -kInf})
    CHECK(bits_of(exp2(x)) == 0);
  for (uint32_t bits = bits_of(-100.0f); bits < bits_of(-200.0f); bits += 11) {
    const float y = exp2(float_of(bits));
    REQUIRE((y == 0 || y >= 0x1p-126f));
  }
  for (const uint32_t nan : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x7fc00003u})
    CHECK(std::isnan(exp2(float_of(nan))));
  CHECK(exp2(128.0f) == kInf);
}

TEST_CASE("log2 of normal numbers errs by at most 1e-7 of max(1, |log2 x|), and is exact for powers of two") {
  const uint32_t step = sample_step(499);
  double worst = 0;
  for (uint32_t bits = 0x00800000; bits < 0x7f800000; bits += step) {
    const double expected = std::log2(double{float_of(bits)});
    worst = std::max(worst, std::fabs(log2(float_of(bits)) - expected) / std::max(1.0, std::fabs(expected)));
  }
  CHECK(worst <= 1e-7);
  for (int n = -126; n <= 127; ++n) CHECK(log2(std::ldexp(1.0f, n)) == n);
  CHECK(std::isnan(log2(kNan)));
}

}  // namespace heed::tests
