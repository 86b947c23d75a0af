// Concat: the features of all inputs side by side; the inputs have the same rows.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/rows.h"

namespace heed {
namespace {

heed_status check(const PlanStep& step, Shape* out) {
  if (step.in_count < 2) return refuse(step.diagnostic, HEED_BAD_GRAPH, "number of inputs", step.in_count, 2);
  if (heed_status s = expect_inputs(step, step.in_count)) return s;
  out[0] = step.in[0];
  for (uint32_t i = 1; i < step.in_count; ++i) {
    if (heed_status s = expect_same_rows(step, step.in[0], step.in[i])) return s;
    out[0].features += step.in[i].features;
  }
  return HEED_OK;
}

void tile(const Step& step, uint32_t, uint32_t index, uint8_t*) {
  const RowRange range = tile_of_rows(step, index);
  for (uint32_t r = range.begin; r < range.begin + range.count; ++r) {
    float* out = step.out[0].row(r);
    for (uint32_t i = 0; i < step.in_count; out += step.in[i++].features) {
      std::memcpy(out, step.in[i].row(r), step.in[i].features * sizeof(float));
    }
  }
}

}  // namespace

const Op kConcatOp = {schema::OpKind::Concat, "Concat", 0, false, check, nullptr, nullptr, 1, tiles_of_rows, tile, nullptr};

}  // namespace heed
