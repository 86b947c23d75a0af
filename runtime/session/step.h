// One node made ready to run: what a driver needs to hand out its tiles, whichever way it does so.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "session/pass.h"

namespace heed {

struct PreparedStep {
  Step step;
  const Op* op;
  uint64_t workspace_bytes;
  uint8_t* scratch;         // of worker 0; the others follow, each scratch_stride bytes behind the one before it
  uint64_t scratch_stride;
  uint64_t scratch_bytes;   // of one worker
};

PreparedStep prepare_step(const SessionView& session, const Kernels& kernels, const Pass& pass, uint32_t node_index);

// Asks every op of the graph whether it can work with what the pass brings.
heed_status check_inputs(const SessionView& session, const Kernels& kernels, const Pass& pass,
                         heed_diagnostic* diagnostic);

}  // namespace heed
