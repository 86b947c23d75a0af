// In a build with HEED_GUARDS (the presets debug and asan): patterns on both sides of every value, workspace and scratch.
// Whoever writes over one is told of through heed_platform.trap; with the address sanitizer, reading one is found too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "session/step.h"

namespace heed {

#ifdef HEED_GUARDS

// Around the graph's inputs, once they are in the arena.
void guard_inputs(const SessionView& session, const Pass& pass);
// Around all that a node may write, before it runs.
void guard_node(const PreparedStep& prepared);
// Around all that it reads and writes, when it has run; around the graph's outputs, when all have. A pattern that has
// changed traps; if the platform has no trap, or it comes back, the run fails with HEED_INVALID_ARGUMENT.
heed_status check_node(const heed_session& session, const PreparedStep& prepared, heed_diagnostic* diagnostic);
heed_status check_outputs(const heed_session& session, const Pass& pass, heed_diagnostic* diagnostic);

#else

inline void guard_inputs(const SessionView&, const Pass&) {}
inline void guard_node(const PreparedStep&) {}
inline heed_status check_node(const heed_session&, const PreparedStep&, heed_diagnostic*) { return HEED_OK; }
inline heed_status check_outputs(const heed_session&, const Pass&, heed_diagnostic*) { return HEED_OK; }

#endif

}  // namespace heed
