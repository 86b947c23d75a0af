// What the stored bytes of a weight say, read back by the layouts' drawings.
// SPDX-License-Identifier: Apache-2.0
#include "convert/quantize.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "error.h"
#include "support/safetensors_file.h"

using namespace heed;
using namespace heed::tools;
using Catch::Matchers::Contains;
using schema::Format;
using schema::Layout;

namespace {

struct Case {
  uint32_t rows;
  uint32_t cols;
  std::vector<float> values;
  Format format = Format::q8c;
  Layout layout = Layout::panel16;
  std::vector<float> input_scale;
  std::vector<float> bias;
};

PackedWeight pack(const Case& one) {
  SpecWeight spec;
  spec.values = {"w",
                 "m.safetensors",
                 "F32",
                 {one.rows, one.cols},
                 reinterpret_cast<const uint8_t*>(one.values.data()),
                 one.values.size() * 4};
  if (!one.bias.empty()) {
    spec.bias = SourceTensor{"b",
                             "m.safetensors",
                             "F32",
                             {one.bias.size()},
                             reinterpret_cast<const uint8_t*>(one.bias.data()),
                             one.bias.size() * 4};
  }
  schema::WeightT weight;
  weight.rows = one.rows;
  weight.cols = one.cols;
  weight.format = one.format;
  weight.layout = one.layout;
  return pack_weight(spec, weight, one.input_scale);
}

// Element (r, c): 16 outputs side by side, 4 inputs of each together.
int stored_i8(const PackedWeight& packed, const Case& one, uint32_t r, uint32_t c) {
  if (one.layout == Layout::rows) return static_cast<int8_t>(packed.data[r * one.cols + c]);
  const uint32_t groups = (one.cols + 3) / 4;
  return static_cast<int8_t>(packed.data[((r / 16 * groups + c / 4) * 16 + r % 16) * 4 + c % 4]);
}

double stored(const PackedWeight& packed, const Case& one, uint32_t r, uint32_t c) {
  if (one.format == Format::q8c) return static_cast<double>(packed.scales[r]) * stored_i8(packed, one, r, c);
  const size_t index = one.layout == Layout::rows ? r * one.cols + c : (r / 16 * one.cols + c) * 16 + r % 16;
  if (one.format == Format::f16) {
    uint16_t half;
    std::memcpy(&half, &packed.data[index * 2], 2);
    return f16_to_f32(half);
  }
  float value;
  std::memcpy(&value, &packed.data[index * 4], 4);
  return value;
}

std::vector<float> random_values(size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(engine() / 2147483648.0 - 1);
  return values;
}

}  // namespace

TEST_CASE("every element is where the layout puts it, within half a step, and padding is zero") {
  for (const auto& [rows, cols] : {std::pair{1u, 1u}, {16u, 4u}, {17u, 5u}, {33u, 66u}, {3u, 130u}}) {
    for (const Layout layout : {Layout::rows, Layout::panel16}) {
      for (const Format format : {Format::q8c, Format::f16, Format::f32}) {
        const Case one{rows, cols, random_values(size_t{rows} * cols, rows + cols), format, layout, {}, {}};
        const PackedWeight packed = pack(one);
        double stray = 0;
        for (const uint8_t byte : packed.data) stray += byte != 0;
        for (uint32_t r = 0; r < rows; ++r) {
          for (uint32_t c = 0; c < cols; ++c) {
            const double wanted = one.values[size_t{r} * cols + c];
            const double error = std::fabs(stored(packed, one, r, c) - wanted);
            const double bound = format == Format::q8c   ? packed.scales[r] * 0.50001
                                 : format == Format::f16 ? std::fabs(wanted) * 0x1p-11 + 0x1p-25
                                                         : 0;
            if (error > bound) FAIL("element " << r << ", " << c << " is off by " << error);
          }
        }
        const size_t element = format == Format::q8c ? 1 : format == Format::f16 ? 2 : 4;
        CHECK(stray <= static_cast<double>(size_t{rows} * cols * element));
        CHECK(packed.sums.size() == (format == Format::q8c && layout == Layout::panel16 ? rows : 0));
        for (uint32_t r = 0; r < packed.sums.size(); ++r) {
          int sum = 0;
          for (uint32_t c = 0; c < cols; ++c) sum += stored_i8(packed, one, r, c);
          CHECK(packed.sums[r] == sum);
        }
      }
    }
  }
}

TEST_CASE("QNT-01: a row of zeros is stored as exact zeros with a finite scale, and leaves other rows alone") {
  Case one{64, 32, random_values(64 * 32, 5)};
  const PackedWeight before = pack(one);
  std::fill(one.values.begin(), one.values.begin() + 32, 0.0f);
  const PackedWeight after = pack(one);
  CHECK(after.scales[0] == 0x1p-40f);
  CHECK(after.sums[0] == 0);
  for (uint32_t c = 0; c < 32; ++c) CHECK(stored(after, one, 0, c) == 0);
  for (uint32_t r = 1; r < 64; ++r) {
    CHECK(after.scales[r] == before.scales[r]);
    for (uint32_t c = 0; c < 32; ++c) CHECK(stored_i8(after, one, r, c) == stored_i8(before, one, r, c));
  }
  const PackedWeight nothing = pack({2, 4, std::vector<float>(8, 0.0f)});
  CHECK(std::isinf(nothing.sqnr_db));
}

TEST_CASE("QNT-11: the extreme of a row is stored as -127 and comes back within half a step") {
  const Case one{1, 2, {-1.0f, 0.5f}};
  const PackedWeight packed = pack(one);
  CHECK(stored_i8(packed, one, 0, 0) == -127);
  CHECK(std::fabs(stored(packed, one, 0, 0) + 1) <= packed.scales[0] / 2);
  for (const uint8_t byte : pack({40, 50, random_values(2000, 9)}).data) CHECK(static_cast<int8_t>(byte) != -128);
}

TEST_CASE("NUM-07: a value beyond f16 is refused by name, never stored as infinite") {
  for (const float value : {98304.0f, -1e30f, 65520.0f}) {
    CHECK_THROWS_WITH(pack({1, 2, {0, value}, Format::f16}),
                      Contains("'w'") && Contains("[0, 1]") && Contains("65504"));
    CHECK(stored(pack({1, 2, {0, value}, Format::f32}), {1, 2, {}, Format::f32}, 0, 1) == value);
  }
  CHECK(stored(pack({1, 1, {65504.0f}, Format::f16}), {1, 1, {}, Format::f16}, 0, 0) == 65504.0);
}

TEST_CASE("NUM-07: a bf16 weight beyond f16 is refused, too") {
  const std::vector<uint16_t> bits = {0x47c0};  // 98304
  SpecWeight spec;
  spec.values = {"w", "m.safetensors", "BF16", {1, 1}, reinterpret_cast<const uint8_t*>(bits.data()), 2};
  schema::WeightT weight;
  weight.rows = weight.cols = 1;
  weight.format = Format::f16;
  CHECK_THROWS_WITH(pack_weight(spec, weight, {}), Contains("'w'") && Contains("98304"));
}

TEST_CASE("numbers too small for the runtime are stored as plus zero") {
  const float least = 0x1p-51f;
  const Case one{
      1,  4,       {std::nextafter(least, 0.0f), -std::nextafter(least, 0.0f), least, -0.0f}, Format::f32, Layout::rows,
      {}, {1e-30f}};
  const PackedWeight packed = pack(one);
  CHECK(std::signbit(stored(packed, one, 0, 1)) == false);
  CHECK(stored(packed, one, 0, 0) == 0);
  CHECK(stored(packed, one, 0, 1) == 0);
  CHECK(stored(packed, one, 0, 2) == least);
  CHECK(std::bit_cast<uint32_t>(packed.bias.at(0)) == 0);
}

TEST_CASE("a layer whose integer sum could overflow is refused") {
  CHECK_THROWS_WITH(pack({1, 66001, std::vector<float>(66001, 1.0f)}), Contains("66001 inputs") && Contains("66000"));
  CHECK(pack({1, 66000, std::vector<float>(66000, 1.0f)}).sums.at(0) == 127 * 66000);
}

TEST_CASE("with an input scale the stored weights are divided by it") {
  const Case one{2, 3, {1, 2, 3, 4, 5, 6}, Format::f32, Layout::rows, {2, 0.5f, 4}, {}};
  const PackedWeight packed = pack(one);
  const double expected[] = {0.5, 4, 0.75, 2, 10, 1.5};
  for (uint32_t i = 0; i < 6; ++i) CHECK(stored(packed, one, i / 3, i % 3) == expected[i]);
  CHECK(packed.input_scale == one.input_scale);
}

TEST_CASE("the reported error is the stored one, and a few large columns that crush the rest show") {
  Case one{48, 64, random_values(48 * 64, 3)};
  const PackedWeight even = pack(one);
  double signal = 0, noise = 0;
  for (uint32_t r = 0; r < 48; ++r) {
    for (uint32_t c = 0; c < 64; ++c) {
      const double wanted = one.values[r * 64 + c];
      signal += wanted * wanted;
      noise += std::pow(stored(even, one, r, c) - wanted, 2);
    }
  }
  CHECK(even.sqnr_db == Approx(10 * std::log10(signal / noise)).margin(0.01));
  CHECK(even.column_sqnr_db > 35);
  for (uint32_t r = 0; r < 48; ++r) one.values[r * 64 + 7] *= 300;
  const PackedWeight uneven = pack(one);
  CHECK(uneven.sqnr_db > 30);
  CHECK(uneven.column_sqnr_db < 20);
}

TEST_CASE("QNT-21: a row whose largest number crushes all others is found, and no other row") {
  Case one{48, 64, random_values(48 * 64, 5)};
  for (float& value : one.values) value *= 0.2f;
  CHECK(pack(one).ruined_rows == 0);
  for (const float outlier : {100.0f, -1e30f}) {
    one.values[5 * 64 + 7] = outlier;
    const PackedWeight ruined = pack(one);
    CHECK(ruined.ruined_rows == 1);
    CHECK(ruined.worst_row.row == 5);
    CHECK(ruined.worst_row.col == 7);
    CHECK(ruined.worst_row.largest == outlier);
    CHECK(ruined.worst_row.sqnr_db < kRuinedRowDecibels);
  }
}
