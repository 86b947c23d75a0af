// L2Normalize: each row becomes row / sqrt(sum of row^2), zeros stay.
// SPDX-License-Identifier: Apache-2.0
#include "ops/rows.h"

namespace heed {
namespace {

void tile(const Step& step, uint32_t, uint32_t index, uint8_t*) {
  const RowRange range = tile_of_rows(step, index);
  const Tensor& in = step.in[0];
  const Tensor& out = step.out[0];
  step.kernels.l2_normalize_rows(
      {in.row(range.begin), in.stride, range.count, in.features, out.row(range.begin), out.stride});
}

}  // namespace

const Op kL2NormalizeOp = {schema::OpKind::L2Normalize, "L2Normalize", 0, true, check_same_shape, nullptr, nullptr, 1,
                     tiles_of_rows, tile, nullptr};

}  // namespace heed
