// Slice: features slice_begin .. slice_end - 1 of each row.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/rows.h"

namespace heed {
namespace {

heed_status check(const PlanStep& step, Shape* out) {
  if (heed_status s = check_same_shape(step, out)) return s;
  const uint32_t begin = step.node.slice_begin();
  const uint32_t end = step.node.slice_end();
  if (end > out[0].features) return refuse(step.diagnostic, HEED_BAD_SHAPE, "slice_end", end, out[0].features);
  if (begin >= end) return refuse(step.diagnostic, HEED_BAD_SHAPE, "slice_begin", begin, end);
  out[0].features = end - begin;
  return HEED_OK;
}

void tile(const Step& step, uint32_t, uint32_t index, uint8_t*) {
  const RowRange range = tile_of_rows(step, index);
  for (uint32_t r = range.begin; r < range.begin + range.count; ++r) {
    std::memcpy(step.out[0].row(r), step.in[0].row(r) + step.node.slice_begin(), step.out[0].features * sizeof(float));
  }
}

}  // namespace

using A = Attribute;
const Op kSliceOp = {schema::OpKind::Slice, "Slice", attributes(A::slice_begin, A::slice_end), false, check,  nullptr,
                     nullptr,               1,       tiles_of_rows,                            tile,  nullptr};

}  // namespace heed
