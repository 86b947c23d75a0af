// What the persistent part of an arena holds, for the planner that writes it and the run that reads it.
// SPDX-License-Identifier: Apache-2.0
//
// persistent: | SessionHeader | for each graph: ValueRecord[values] NodeRecord[nodes] | for each axis: rows, slots |
// states (session/states.h) |
// Only fixed-width numbers and offsets, so that its size is the same on every machine.
#pragma once
#include <cstdint>

#include "heed/heed.h"
#include "session/layout.h"

namespace heed {

constexpr uint32_t kMaxTileRows = 1024;

// Offsets are bytes from the start of the persistent part.
struct SessionHeader {
  uint64_t stamp;            // ties the arena to the heed_session that planned it last
  heed_limits limits;
  uint32_t transient_units;
  uint32_t values_at[HEED_MAX_GRAPHS];
  uint32_t nodes_at[HEED_MAX_GRAPHS];
  uint32_t axes_at;          // u32 [axes][2][max_sequences + 1]: row_begin and slot_begin of each axis
  uint32_t axes;
  uint32_t sequences;        // of the last run
};

static_assert(sizeof(SessionHeader) == 128 && sizeof(ValueRecord) == 16 && sizeof(NodeRecord) == 8,
              "the same on every machine");

struct PersistentPart {
  uint32_t values_at[HEED_MAX_GRAPHS];
  uint32_t nodes_at[HEED_MAX_GRAPHS];
  uint32_t axes_at;
  uint32_t axes;
  uint64_t states_at;  // where the states begin
  uint64_t state_bytes;
  uint64_t bytes;      // a multiple of kAlignment
};
PersistentPart lay_out_persistent(const heed_model& model, const heed_limits& limits);

// Where the states begin, behind the tables of the axes.
constexpr uint64_t states_at(uint64_t axes_at, uint32_t axes, const heed_limits& limits) {
  return round_up(axes_at + uint64_t{axes} * 2 * (uint64_t{limits.max_sequences} + 1) * sizeof(uint32_t), kAlignment);
}

// Most rows that one sequence of any input may have.
uint32_t model_sequence_rows(const heed_model& model);

// The max_context to start from: what the file says, else what its states hold, else what its inputs take.
uint32_t default_context(const heed_model& model);

// A planned session, resolved to pointers.
struct SessionView {
  const heed_model& model;
  SessionHeader& header;
  uint8_t* persistent;
  uint8_t* transient;

  const ValueRecord* values(uint32_t graph) const {
    return reinterpret_cast<const ValueRecord*>(persistent + header.values_at[graph]);
  }
  const NodeRecord* nodes(uint32_t graph) const {
    return reinterpret_cast<const NodeRecord*>(persistent + header.nodes_at[graph]);
  }
  uint32_t* row_begin(uint32_t axis) const { return table(2 * axis); }
  uint32_t* slot_begin(uint32_t axis) const { return table(2 * axis + 1); }
  uint64_t states_at() const { return heed::states_at(header.axes_at, header.axes, header.limits); }

 private:
  uint32_t* table(uint32_t index) const {
    const uint64_t entries = uint64_t{header.limits.max_sequences} + 1;
    return reinterpret_cast<uint32_t*>(persistent + header.axes_at) + index * entries;
  }
};

// A planned session's own.
inline SessionView view_of(const heed_session& session) {
  return {*session.model, *reinterpret_cast<SessionHeader*>(session.persistent), session.persistent,
          session.transient};
}

// Whether the session was planned, and no other one has taken its arena since.
bool is_planned(const heed_session* session);

// The tensor of a value in the last (or present) run.
Tensor value_tensor(const SessionView& session, uint32_t graph, uint16_t value);

}  // namespace heed
