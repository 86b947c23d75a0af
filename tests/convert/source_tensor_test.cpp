// Numbers of a checkpoint as f32 and f16.
// SPDX-License-Identifier: Apache-2.0
#include "convert/source_tensor.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "error.h"
#include "support/safetensors_file.h"

using namespace heed;
using namespace heed::tools;
using Catch::Matchers::Contains;

namespace {

// What a half stands for, from its definition.
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

struct Tensor {
  std::string bytes;
  SourceTensor view;
};

template <class T>
Tensor tensor(const char* type, const std::vector<T>& values) {
  Tensor result{" " + test::bytes_of(values), {}};  // misaligned by one
  result.view = {"w", "m.safetensors", type, {values.size()}, nullptr, values.size() * sizeof(T)};
  return result;
}

template <class T>
std::vector<float> read(const char* type, const std::vector<T>& values) {
  Tensor one = tensor(type, values);
  one.view.data = reinterpret_cast<const uint8_t*>(one.bytes.data()) + 1;
  return to_f32(one.view);
}

}  // namespace

TEST_CASE("NUM-06: bf16 subnormals keep their bits") {
  const std::vector<float> values = read<uint16_t>("BF16", {0x0001, 0x8001, 0x007F, 0x0080});
  const uint32_t expected[] = {0x00010000, 0x80010000, 0x007F0000, 0x00800000};
  for (int i = 0; i < 4; ++i) CHECK(std::bit_cast<uint32_t>(values[i]) == expected[i]);
}

TEST_CASE("every finite half is read exactly and written back as it was") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    if ((half & 0x7c00) == 0x7c00) continue;
    if (f16_to_f32(half) != half_value(half) || f32_to_f16(f16_to_f32(half)) != half) FAIL("half " << bits);
  }
}

TEST_CASE("f32 becomes the nearest half, ties to even") {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const uint16_t below = static_cast<uint16_t>(bits);
    const double low = half_value(below);
    const double high = half_value(below + 1);
    const float middle = static_cast<float>((low + high) / 2);  // exact
    if (f32_to_f16(middle) != (bits % 2 ? below + 1 : below)) FAIL("tie above half " << bits);
    if (f32_to_f16(std::nextafter(middle, 0.0f)) != below) FAIL("below the tie above half " << bits);
    if (f32_to_f16(-std::nextafter(middle, 1e9f)) != (0x8000 | (below + 1))) FAIL("above the tie above half " << bits);
  }
  CHECK(f32_to_f16(65519.0f) == 0x7bff);
  CHECK(f32_to_f16(65520.0f) == 0x7c00);
  CHECK(f32_to_f16(-1e30f) == 0xfc00);
}

TEST_CASE("NUM-07: f64 is read where f32 can hold it, and refused by name and place where not") {
  CHECK(read<double>("F64", {1.5, 1e-300, -0.1}) == std::vector<float>{1.5f, 0.0f, -0.1f});
  CHECK_THROWS_WITH(read<double>("F64", {0, 1e300}),
                    Contains("'w'") && Contains("[1]") && Contains("beyond what f32 can hold"));
  CHECK_THROWS_WITH(read<double>("F64", {std::nan("")}),
                    Contains("'w'") && Contains("[0]") && Contains("not a number"));
}

TEST_CASE("QNT-17: a weight that is not finite is refused, naming tensor and element") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK_THROWS_WITH(read<float>("F32", {0, 1, std::nanf("")}),
                    Contains("'w'") && Contains("[2]") && Contains("not a number"));
  CHECK_THROWS_WITH(read<float>("F32", {0, infinity}), Contains("'w'") && Contains("[1]") && Contains("infinite"));
  CHECK_THROWS_WITH(read<uint16_t>("BF16", {0x7f80}), Contains("infinite"));
  CHECK_THROWS_WITH(read<uint16_t>("F16", {0xfc00}), Contains("infinite"));
}

TEST_CASE("CLI-05: a type that heed does not read is named, with what it reads") {
  CHECK_THROWS_WITH(read<uint8_t>("F8_E4M3", {1}), Contains("F8_E4M3") && Contains("BF16"));
}
