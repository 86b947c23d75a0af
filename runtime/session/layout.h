// The planner: walks a graph in order, checks every node and places its values, keeping only what is live.
// SPDX-License-Identifier: Apache-2.0
//
// It needs no memory but a bounded stack, so it can answer how much is needed before there is an arena; planning is
// the same walk with somewhere to record it. All sizes are counted in units of kAlignment bytes.
#pragma once
#include <cstdint>

#include "heed/heed.h"
#include "ops/op.h"

namespace heed {

// What the persistent part of an arena keeps of each value and node.
struct ValueRecord {
  uint32_t unit;  // where it starts in the transient part; kNowhere for ids
  uint32_t rows;
  uint32_t features;
  uint16_t axis;
  uint8_t ragged;
  uint8_t ids;
};
struct NodeRecord {
  uint32_t workspace_units;
  uint32_t scratch_units;  // of one worker
};
constexpr uint32_t kNowhere = 0xffffffffu;

// Where to record; null pointers when only counting. One entry for each value id and each node.
struct Recorder {
  ValueRecord* values = nullptr;
  NodeRecord* nodes = nullptr;
};

// What a graph needs at its worst moment. activations + workspace + scratch * workers = transient.
struct GraphRoom {
  uint64_t transient = 0;
  uint64_t activations = 0;
  uint64_t workspace = 0;
  uint64_t scratch = 0;
  uint64_t live_peak = 0;  // with no gap between values
};

// Units on either side of a value, workspace or scratch that nobody may write (session/guards.h); they are counted in
// what such a build asks for.
#ifdef HEED_GUARDS
constexpr uint32_t kGuardUnits = 1;
#else
constexpr uint32_t kGuardUnits = 0;
#endif
// Units of a piece with its guards.
constexpr uint64_t guarded(uint64_t units) { return units == 0 ? 0 : units + 2 * kGuardUnits; }

// Most values of a graph that may be live at the same time.
constexpr uint32_t kMaxLive = 48;

// Floats from one row of a value to the next.
inline uint32_t row_stride(uint32_t features) { return static_cast<uint32_t>(round_up(features, kAlignment / 4)); }

// Most rows of one tile, and the rows of a tile in a pass of `rows` rows: as many tiles as keep all workers busy.
uint32_t max_tile_rows(const heed_limits& limits);
uint32_t pass_tile_rows(const heed_limits& limits, uint32_t rows);

// The model must have passed open_file. Fills `room`, and what `recorder` points to.
heed_status lay_out(const heed_model& model, uint32_t graph, const heed_limits& limits, const Recorder& recorder,
                    GraphRoom* room, heed_diagnostic* diagnostic);

}  // namespace heed
