// Pool: one row for each sequence from all its rows; pool says how.
// SPDX-License-Identifier: Apache-2.0
#include "ops/rows.h"

namespace heed {
namespace {

heed_status check(const PlanStep& step, Shape* out) {
  if (heed_status s = expect_inputs(step, 1)) return s;
  if (step.node.pool() > schema::PoolKind::last) return refuse(step.diagnostic, HEED_UNSUPPORTED, "pool");
  out[0] = step.in[0];
  out[0].ragged = false;
  out[0].axis = 0;
  out[0].rows = 1;
  return HEED_OK;
}

uint32_t tiles(const Step& step, uint32_t) { return step.sequences; }

void tile(const Step& step, uint32_t, uint32_t sequence, uint8_t*) {
  const Tensor& in = step.in[0];
  const uint32_t begin = in.begin(sequence);
  step.kernels.pool_rows({in.row(begin), in.stride, in.begin(sequence + 1) - begin, in.features,
                          static_cast<PoolFunction>(step.node.pool()), step.out[0].row(sequence)});
}

}  // namespace

const Op kPoolOp = {schema::OpKind::Pool, "Pool",  attributes(Attribute::pool), false, check, nullptr,
                    nullptr,              1,       tiles,                       tile,  nullptr};

}  // namespace heed
