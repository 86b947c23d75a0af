// q8c, f16 and f32 in the layouts of runtime/quant/panel.h.
// SPDX-License-Identifier: Apache-2.0
#include "convert/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "error.h"
#include "kernels/kernels.h"
#include "quant/panel.h"

namespace heed::tools {
namespace {

using schema::Format;
using schema::Layout;

// The numbers of a weight as [rows, cols], and what storing them cost.
struct Matrix {
  uint64_t rows;
  uint64_t cols;
  std::vector<float> values;
};

// Squared magnitudes of the numbers and of their errors, by column.
struct ErrorSums {
  std::vector<double> signal;
  std::vector<double> noise;

  explicit ErrorSums(uint64_t cols) : signal(cols), noise(cols) {}
  void add(uint64_t column, float wanted, float stored) {
    const double error = static_cast<double>(wanted) - stored;
    signal[column] += static_cast<double>(wanted) * wanted;
    noise[column] += error * error;
  }
};

double decibels(double signal, double noise) {
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

void summarize(const ErrorSums& sums, PackedWeight& packed) {
  double signal = 0;
  double noise = 0;
  std::vector<double> columns;
  for (size_t c = 0; c < sums.signal.size(); ++c) {
    signal += sums.signal[c];
    noise += sums.noise[c];
    if (sums.signal[c] > 0) columns.push_back(decibels(sums.signal[c], sums.noise[c]));
  }
  packed.sqnr_db = decibels(signal, noise);
  packed.column_sqnr_db = packed.sqnr_db;
  if (columns.empty()) return;
  std::nth_element(columns.begin(), columns.begin() + columns.size() / 2, columns.end());
  packed.column_sqnr_db = columns[columns.size() / 2];
}

// What the runtime may assume of every stored f32: not subnormal, nor so small that a product would be.
float storable(float value) { return std::fabs(value) < kLeastStored ? 0.0f : value; }

std::vector<float> storable_values(const SourceTensor& tensor) {
  std::vector<float> values = to_f32(tensor);
  for (float& value : values) value = storable(value);
  return values;
}

// A row's scale: its largest magnitude becomes 127. A row of zeros gets the least scale, and exact zeros.
float row_scale(const float* row, uint64_t cols) {
  float largest = 0;
  for (uint64_t c = 0; c < cols; ++c) largest = std::max(largest, std::fabs(row[c]));
  return std::max(largest / 127.0f, kLeastScale);
}

float q8_value(float value, float scale) { return std::clamp(std::nearbyint(value / scale), -127.0f, 127.0f); }

// Rows too short for "the others" to mean much are left alone.
void note_row(const float* row, uint64_t r, uint64_t cols, PackedWeight& packed) {
  constexpr uint64_t kLeastCols = 8;
  if (cols < kLeastCols) return;
  uint64_t top = 0;
  double signal = 0;
  double noise = 0;
  for (uint64_t c = 0; c < cols; ++c) {
    if (std::fabs(row[c]) > std::fabs(row[top])) top = c;
  }
  for (uint64_t c = 0; c < cols; ++c) {
    if (c == top) continue;
    const double error = static_cast<double>(row[c]) - q8_value(row[c], packed.scales[r]) * packed.scales[r];
    signal += static_cast<double>(row[c]) * row[c];
    noise += error * error;
  }
  if (signal == 0) return;
  const double found = decibels(signal, noise);
  if (found < kRuinedRowDecibels) ++packed.ruined_rows;
  if (found < packed.worst_row.sqnr_db) packed.worst_row = {r, top, row[top], found};
}

void pack_q8c(const Matrix& matrix, Layout layout, ErrorSums& errors, PackedWeight& packed) {
  const bool panels = layout == Layout::panel16;
  packed.data.assign(panels ? matrix_i8_bytes(matrix.rows, matrix.cols) : matrix.rows * matrix.cols, 0);
  packed.scales.resize(matrix.rows);
  if (panels) packed.sums.resize(matrix.rows);
  for (uint64_t r = 0; r < matrix.rows; ++r) {
    const float* row = &matrix.values[r * matrix.cols];
    const float scale = row_scale(row, matrix.cols);
    packed.scales[r] = scale;
    for (uint64_t c = 0; c < matrix.cols; ++c) {
      const float step = q8_value(row[c], scale);
      const int8_t stored = static_cast<int8_t>(step);
      packed.data[panels ? panel_i8_index(r, c, matrix.cols) : r * matrix.cols + c] = static_cast<uint8_t>(stored);
      if (panels) packed.sums[r] += stored;
      errors.add(c, row[c], step * scale);
    }
    note_row(row, r, matrix.cols, packed);
  }
}

template <class Stored, class Store, class Load>
void pack_floats(const Matrix& matrix, Layout layout, ErrorSums& errors, PackedWeight& packed, Store store, Load load) {
  const bool panels = layout == Layout::panel16;
  const uint64_t count = panels ? matrix_f32_elems(matrix.rows, matrix.cols) : matrix.rows * matrix.cols;
  packed.data.assign(count * sizeof(Stored), 0);
  for (uint64_t r = 0; r < matrix.rows; ++r) {
    for (uint64_t c = 0; c < matrix.cols; ++c) {
      const float value = matrix.values[r * matrix.cols + c];
      const Stored stored = store(value, r, c);
      const uint64_t index = panels ? panel_f32_index(r, c, matrix.cols) : r * matrix.cols + c;
      std::memcpy(&packed.data[index * sizeof(Stored)], &stored, sizeof(Stored));
      errors.add(c, value, load(stored));
    }
  }
}

void pack_f16(const SpecWeight& spec, const Matrix& matrix, Layout layout, ErrorSums& errors, PackedWeight& packed) {
  const auto store = [&](float value, uint64_t r, uint64_t c) {
    const uint16_t half = f32_to_f16(value);
    if ((half & 0x7fff) == 0x7c00) {
      throw Error(spec.values.title() + ": element " + shape_text({r, c}) + " is " + std::to_string(value) +
                  ", beyond f16's 65504; convert with --weights f32 or q8c");
    }
    return half;
  };
  pack_floats<uint16_t>(matrix, layout, errors, packed, store, f16_to_f32);
}

}  // namespace

PackedWeight pack_weight(const SpecWeight& spec, const schema::WeightT& weight, std::vector<float> input_scale) {
  Matrix matrix{weight.rows, weight.cols, to_f32(spec.values)};
  for (uint64_t i = 0; i < matrix.values.size(); ++i) {
    float& value = matrix.values[i];
    if (!input_scale.empty()) value /= input_scale[i % matrix.cols];
    value = storable(value);
  }
  if (weight.format == Format::q8c && matrix.cols > kMaxInt8Cols) {
    throw Error(spec.values.title() + ": " + std::to_string(matrix.cols) +
                " inputs could overflow an int8 sum (at most " + std::to_string(kMaxInt8Cols) +
                "); convert with --weights f16");
  }
  PackedWeight packed;
  ErrorSums errors(matrix.cols);
  switch (weight.format) {
    case Format::q8c:
      pack_q8c(matrix, weight.layout, errors, packed);
      break;
    case Format::f16:
      pack_f16(spec, matrix, weight.layout, errors, packed);
      break;
    case Format::f32: {
      const auto same = [](float value, uint64_t, uint64_t) { return value; };
      pack_floats<float>(matrix, weight.layout, errors, packed, same, [](float value) { return value; });
      break;
    }
    default:
      throw Error(spec.values.title() + ": the format " + schema::EnumNameFormat(weight.format) +
                  " is not available yet");
  }
  if (spec.bias) packed.bias = storable_values(*spec.bias);
  packed.input_scale = std::move(input_scale);
  summarize(errors, packed);
  return packed;
}

}  // namespace heed::tools
