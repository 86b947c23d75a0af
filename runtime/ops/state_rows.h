// What LoadState and StoreState share: rows of a recurrent state.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/rows.h"

namespace heed {

// The node's state is a recurrent one; `shape` gets that of its rows.
inline heed_status check_row_state(const PlanStep& step, Shape* shape) {
  if (step.node.state() < 0) return refuse(step.diagnostic, HEED_BAD_GRAPH, "state missing");
  const StateForm state = state_form(step.model, step.node.state(), step.limits);
  if (state.kind != schema::StateKind::recurrent) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, "kind of a state", static_cast<int64_t>(state.kind));
  }
  *shape = {false, 0, 1, state.features, false};
  return HEED_OK;
}

inline uint32_t one_tile(const Step&, uint32_t) { return 1; }

}  // namespace heed
