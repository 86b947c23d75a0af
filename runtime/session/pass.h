// A pass that the caller brings: checked, its row tables written, its inputs brought in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "heed/heed.h"
#include "session/plan.h"

namespace heed {

struct Pass {
  uint32_t graph = 0;
  uint32_t sequences = 1;
  uint32_t beams = 1;
  uint32_t tile_rows = 8;
  const heed_input* inputs[HEED_MAX_PORTS] = {};  // of each graph input; null: an optional one that is absent
  heed_tap tap = nullptr;
  void* tap_context = nullptr;
};

// Checks everything about `given` but the ids, and fills the row tables of its axes.
heed_status prepare_pass(const SessionView& session, const heed_pass& given, Pass* pass, heed_diagnostic* diagnostic);

// Copies f32 inputs into the arena, with tiny numbers made 0 and every NaN the same.
void copy_inputs(const SessionView& session, const Pass& pass);

}  // namespace heed
