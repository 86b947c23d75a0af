// What ops that work row by row share: tiles of rows, and checks of what comes in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/diagnostic.h"
#include "ops/op.h"

namespace heed {

struct RowRange {
  uint32_t begin;
  uint32_t count;
};

inline uint32_t row_tiles(uint32_t rows, uint32_t tile_rows) { return (rows + tile_rows - 1) / tile_rows; }
inline RowRange row_tile(uint32_t rows, uint32_t tile_rows, uint32_t index) {
  const uint32_t begin = index * tile_rows;
  return {begin, rows - begin < tile_rows ? rows - begin : tile_rows};
}

// The sequence that a row belongs to.
inline uint32_t sequence_of(const Tensor& tensor, uint32_t sequences, uint32_t row) {
  uint32_t low = 0;
  for (uint32_t high = sequences; high - low > 1;) {
    const uint32_t middle = low + (high - low) / 2;
    (row < tensor.begin(middle) ? high : low) = middle;
  }
  return low;
}

// `tiles` of an op with one phase whose output has the rows of its first input.
inline uint32_t tiles_of_rows(const Step& step, uint32_t) { return row_tiles(step.in[0].rows, step.tile_rows); }
inline RowRange tile_of_rows(const Step& step, uint32_t index) {
  return row_tile(step.in[0].rows, step.tile_rows, index);
}

// As many inputs as the op takes, none of them ids.
inline heed_status expect_inputs(const PlanStep& step, uint32_t count) {
  if (step.in_count != count) {
    return refuse(step.diagnostic, HEED_BAD_GRAPH, "number of inputs", step.in_count, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (step.in[i].ids) return refuse(step.diagnostic, HEED_BAD_SHAPE, "ids where numbers are wanted");
  }
  return HEED_OK;
}

inline heed_status expect_features(const PlanStep& step, const char* what, uint64_t found, uint64_t expected) {
  if (found == expected) return HEED_OK;
  return refuse(step.diagnostic, HEED_BAD_SHAPE, what, static_cast<int64_t>(found), static_cast<int64_t>(expected));
}

// `check` of an op whose output has the shape of its one input.
inline heed_status check_same_shape(const PlanStep& step, Shape* out) {
  if (heed_status s = expect_inputs(step, 1)) return s;
  out[0] = step.in[0];
  return HEED_OK;
}

inline heed_status expect_same_rows(const PlanStep& step, const Shape& a, const Shape& b) {
  if (a.ragged == b.ragged && a.axis == b.axis && a.rows == b.rows) return HEED_OK;
  return refuse(step.diagnostic, HEED_BAD_SHAPE, "rows of the inputs", b.rows, a.rows);
}

// `check` of an op that combines two values of one shape.
inline heed_status check_two_alike(const PlanStep& step, Shape* out) {
  if (heed_status s = expect_inputs(step, 2)) return s;
  if (heed_status s = expect_same_rows(step, step.in[0], step.in[1])) return s;
  out[0] = step.in[0];
  return expect_features(step, "features of the two inputs", step.in[1].features, step.in[0].features);
}

// A state has room for the rows of a pass behind what it holds.
inline heed_status check_room(const Step& step, const Tensor& in, heed_diagnostic* diagnostic) {
  for (uint32_t s = 0; s < step.sequences; ++s) {
    const int64_t needed = int64_t{step.state.length(s)} + in.begin(s + 1) - in.begin(s);
    if (needed <= step.state.form.rows) continue;
    return refuse(diagnostic, HEED_TOO_LONG, "rows of a state", needed, step.state.form.rows);
  }
  return HEED_OK;
}

// `tile` of an op that is one kernel over the rows of its one input.
template <void (*Kernels::*kernel)(const Rows&)>
void tile_each_row(const Step& step, uint32_t, uint32_t index, uint8_t*) {
  const RowRange range = tile_of_rows(step, index);
  const Tensor& in = step.in[0];
  const Tensor& out = step.out[0];
  (step.kernels.*kernel)({in.row(range.begin), in.stride, range.count, in.features, out.row(range.begin), out.stride});
}

// `tile` of an op that is one kernel over the elements of its two inputs.
template <void (*Kernels::*kernel)(const Combine&)>
void tile_two_alike(const Step& step, uint32_t, uint32_t index, uint8_t*) {
  const RowRange range = tile_of_rows(step, index);
  for (uint32_t r = range.begin; r < range.begin + range.count; ++r) {
    (step.kernels.*kernel)({step.in[0].row(r), step.in[1].row(r), step.in[0].features, step.out[0].row(r)});
  }
}

}  // namespace heed
