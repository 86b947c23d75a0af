// Mul: out = a * b, two values of one shape.
// SPDX-License-Identifier: Apache-2.0
#include "ops/rows.h"

namespace heed {
namespace {

void tile(const Step& step, uint32_t, uint32_t index, uint8_t*) {
  const RowRange range = tile_of_rows(step, index);
  for (uint32_t r = range.begin; r < range.begin + range.count; ++r) {
    step.kernels.multiply({step.in[0].row(r), step.in[1].row(r), step.in[0].features, step.out[0].row(r)});
  }
}

}  // namespace

const Op kMulOp = {schema::OpKind::Mul, "Mul", 0, true, check_two_alike, nullptr, nullptr, 1, tiles_of_rows, tile, nullptr};

}  // namespace heed
