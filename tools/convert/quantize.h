// Turns a weight's numbers into the bytes that the file stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "convert/spec.h"

namespace heed::tools {

// The pieces of one weight, in the order of the file and of its checksum.
struct PackedWeight {
  std::vector<uint8_t> data;
  std::vector<float> bias;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  std::vector<float> input_scale;
  double sqnr_db = 0;         // of all stored numbers; infinite if none changed
  double column_sqnr_db = 0;  // the median over the columns' own: low where a few large columns crush the others
};

// Packs `spec` into the format and layout that `weight` asks for; rows, cols, has_bias and has_input_scale must be set.
// With an `input_scale` (one per column) the numbers stored are the weights divided by it. Throws Error, naming the
// tensor, for numbers that are not finite or do not fit the format.
PackedWeight pack_weight(const SpecWeight& spec, const schema::WeightT& weight, std::vector<float> input_scale);

}  // namespace heed::tools
