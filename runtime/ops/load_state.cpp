// LoadState: one row for each sequence, as the recurrent state keeps it (zeros at first). No input.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/state_rows.h"

namespace heed {
namespace {

heed_status check(const PlanStep& step, Shape* out) {
  if (heed_status s = expect_inputs(step, 0)) return s;
  return check_row_state(step, &out[0]);
}

void tile(const Step& step, uint32_t, uint32_t, uint8_t*) {
  const Tensor& out = step.out[0];
  for (uint32_t s = 0; s < step.sequences; ++s) std::memcpy(out.row(s), step.state.row(s), out.features * sizeof(float));
}

}  // namespace

const Op kLoadStateOp = {schema::OpKind::LoadState, "LoadState", attributes(Attribute::state), false, check,  nullptr,
                         nullptr,                   1,           one_tile,                     tile,  nullptr};

}  // namespace heed
