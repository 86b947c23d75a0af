// heed_reset and heed_reorder: what a session keeps between runs.
// SPDX-License-Identifier: Apache-2.0
#include "session/plan.h"

using namespace heed;

// No op of this build keeps anything, and a model with a node that does is refused: there is nothing to empty or move.
extern "C" heed_status heed_reset(heed_session* session) {
  return is_planned(session) ? HEED_OK : HEED_INVALID_ARGUMENT;
}

extern "C" heed_status heed_reorder(heed_session* session, const uint32_t* parents, uint32_t count) {
  if (!is_planned(session) || (parents == nullptr && count > 0)) return HEED_INVALID_ARGUMENT;
  const uint32_t sequences = reinterpret_cast<const SessionHeader*>(session->persistent)->limits.max_sequences;
  if (count > sequences) return HEED_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < count; ++i) {
    if (parents[i] >= sequences) return HEED_INVALID_ARGUMENT;
  }
  return HEED_OK;
}
