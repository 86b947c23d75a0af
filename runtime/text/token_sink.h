// Where tokens go: counted, and written where there is room.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "heed/heed.h"
#include "text/normalizer.h"

namespace heed {

// Takes tokens: all are counted, those below `limit` are written (where there is a place for them).
struct TokenSink {
  heed_token* tokens;  // null: count only
  uint32_t limit;
  uint32_t count;
  uint32_t base = 0;  // where in the whole text the part begins whose spans are pushed

  void push(uint32_t id, Span span) {
    if (tokens && count < limit) tokens[count] = {id, base + span.begin, base + span.end};
    ++count;
  }
};

}  // namespace heed
