// How a matrix of attention weights looks, in a few numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace heed::tools {

constexpr int32_t kNoColumn = -1;

struct MapStatistics {
  std::vector<int32_t> top;  // of each row, the column with the largest weight (the first of equal ones); kNoColumn: it looks at nothing
  double near_diagonal = 0;  // share of all weight at columns row - 1 .. row + 1
  uint64_t crossings = 0;    // pairs of rows whose top columns stand the other way round: 0 is word by word
  double entropy_bits = 0;   // mean over rows of -sum w log2 w: 0 looks at one column, log2(columns) at all alike
};

// weights: [rows, columns]. A row that is not-a-number looks at nothing, and makes the shares not-a-number.
MapStatistics statistics_of(std::span<const float> weights, size_t rows, size_t columns);

}  // namespace heed::tools
