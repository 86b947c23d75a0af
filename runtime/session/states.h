// Where a session keeps its states: the last piece of the persistent part.
// SPDX-License-Identifier: Apache-2.0
//
//     | u32 at[states] | u32 slot_of[sequences] | u32 next[sequences] | u32 owner[sequences] |
//     then for each state, from unit at[i] on: | u32 lengths[slots], keys only | data |
//
// Every piece starts at a multiple of kAlignment. slot_of tells which slot of its own states a sequence has now, so that
// reordering moves numbers and not states. A model without states has none of this.
#pragma once
#include "session/pass.h"

namespace heed {

inline uint32_t state_count(const heed_model& model) {
  return root(model).states() == nullptr ? 0 : root(model).states()->size();
}

// Bytes of all states, laid out from `at` on (a multiple of kAlignment); `units` (may be null) gets where each begins.
// At least kHugeState where that is more than any machine has.
uint64_t lay_out_states(const heed_model& model, const heed_limits& limits, uint64_t at, uint32_t* units);

// A state as the sequences of a pass see it.
StateView state_view(const SessionView& session, uint32_t id, uint32_t beams);

// Writes the tables of an arena whose states are laid out anew, and empties them.
void start_states(const SessionView& session);

// Whether the pass fits its beams, and the sources that it reads are there.
heed_status check_sources(const SessionView& session, const Pass& pass, heed_diagnostic* diagnostic);

// Counts the keys that a pass which has run appended.
void advance_states(const SessionView& session, const Pass& pass);

}  // namespace heed
