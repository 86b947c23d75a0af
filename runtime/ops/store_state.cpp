// StoreState: keeps one row for each sequence in the recurrent state. No output.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/state_rows.h"

namespace heed {
namespace {

heed_status check(const PlanStep& step, Shape*) {
  if (heed_status s = expect_inputs(step, 1)) return s;
  Shape wanted;
  if (heed_status s = check_row_state(step, &wanted)) return s;
  if (step.in[0].ragged || step.in[0].rows != 1) {
    return refuse(step.diagnostic, HEED_BAD_SHAPE, "one row for each sequence wanted", step.in[0].rows, 1);
  }
  return expect_features(step, "features of a state", step.in[0].features, wanted.features);
}

void tile(const Step& step, uint32_t, uint32_t, uint8_t*) {
  const Tensor& in = step.in[0];
  for (uint32_t s = 0; s < step.sequences; ++s) std::memcpy(step.state.row(s), in.row(s), in.features * sizeof(float));
}

}  // namespace

const Op kStoreStateOp = {schema::OpKind::StoreState, "StoreState", attributes(Attribute::state), false, check,  nullptr,
                          nullptr,                    1,            one_tile,                     tile,  nullptr};

}  // namespace heed
