// SPDX-License-Identifier: Apache-2.0
#include "attention/statistics.h"

#include <cmath>

namespace heed::tools {
namespace {

int32_t top_of(std::span<const float> row) {
  int32_t top = kNoColumn;
  float most = 0;
  for (size_t column = 0; column < row.size(); ++column) {
    if (!(row[column] > most)) continue;
    most = row[column];
    top = static_cast<int32_t>(column);
  }
  return top;
}

double entropy_of(std::span<const float> row) {
  double bits = 0;
  for (const float weight : row) {
    if (weight != 0) bits -= double{weight} * std::log2(double{weight});
  }
  return bits;
}

uint64_t crossings_of(const std::vector<int32_t>& top) {
  uint64_t crossings = 0;
  for (size_t later = 1; later < top.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) crossings += top[later] != kNoColumn && top[earlier] > top[later];
  }
  return crossings;
}

}  // namespace

MapStatistics statistics_of(std::span<const float> weights, size_t rows, size_t columns) {
  MapStatistics found;
  double all = 0;
  double near = 0;
  for (size_t row = 0; row < rows; ++row) {
    const std::span<const float> values = weights.subspan(row * columns, columns);
    found.top.push_back(top_of(values));
    found.entropy_bits += entropy_of(values) / static_cast<double>(rows);
    for (size_t column = 0; column < columns; ++column) {
      all += double{values[column]};
      if (column + 1 >= row && column <= row + 1) near += double{values[column]};
    }
  }
  found.near_diagonal = all == 0 ? 0 : near / all;
  found.crossings = crossings_of(found.top);
  return found;
}

}  // namespace heed::tools
