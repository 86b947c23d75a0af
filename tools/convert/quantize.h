// Turns a weight's numbers into the bytes that the file stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "convert/spec.h"

namespace heed::tools {

// A row whose numbers, but for its largest, come back worse than this, half of their energy, has lost them to that one.
constexpr double kRuinedRowDecibels = 3;

// The row that comes back worst, leaving out its largest number, which alone would hide the loss of all others.
struct WorstRow {
  uint64_t row = 0;
  uint64_t col = 0;  // of the largest number
  float largest = 0;
  double sqnr_db = std::numeric_limits<double>::infinity();
};

// The pieces of one weight, in the order of the file and of its checksum.
struct PackedWeight {
  std::vector<uint8_t> data;
  std::vector<float> bias;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  std::vector<float> input_scale;
  double sqnr_db = 0;         // of all stored numbers; infinite if none changed
  double column_sqnr_db = 0;  // the median over the columns' own: low where a few large columns crush the others
  WorstRow worst_row;
  uint64_t ruined_rows = 0;
};

// Packs `spec` into the format and layout that `weight` asks for; rows, cols, has_bias and has_input_scale must be set.
// With an `input_scale` (one per column) the numbers stored are the weights divided by it. Throws Error, naming the
// tensor, for numbers that are not finite or do not fit the format.
PackedWeight pack_weight(const SpecWeight& spec, const schema::WeightT& weight, std::vector<float> input_scale);

}  // namespace heed::tools
