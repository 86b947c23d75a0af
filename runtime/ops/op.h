// The op interface: what the planner and the drivers ask of an op, and what an op sees.
// SPDX-License-Identifier: Apache-2.0
//
// An op runs in phases, one after another; the tiles of a phase are independent of each other and may run at the
// same time, each with scratch of its own. The thread driver and a step-by-step driver are two users of the same thing.
// Everything that the file or the limits can make wrong is found in `check`; `tile` returns nothing.
#pragma once
#include <cstddef>
#include <cstdint>

#include "heed/heed.h"
#include "kernels/kernels.h"
#include "model/weight.h"
#include "ops/attributes.h"
#include "ops/carver.h"
#include "ops/state.h"
#include "quant/panel.h"

namespace heed {

// Rows of a value. ragged: the rows of graph axis `axis`, as many as the pass has, at most `rows` of one sequence.
// Otherwise exactly `rows` for each sequence.
struct Shape {
  bool ragged = true;
  uint16_t axis = 0;
  uint32_t rows = 0;
  uint32_t features = 0;
  bool ids = false;  // i32 ids, given by the caller; not in the arena
};

// Most rows of all sequences together.
inline uint64_t max_rows(const Shape& shape, const heed_limits& limits) {
  const uint64_t rows = static_cast<uint64_t>(shape.rows) * limits.max_sequences;
  return shape.ragged && rows > limits.max_rows ? limits.max_rows : rows;
}
// Most key slots of all sequences together, when each takes a multiple of kPanelRows.
inline uint64_t max_slots(const Shape& shape, const heed_limits& limits) {
  if (!shape.ragged) return padded_keys(shape.rows) * limits.max_sequences;
  return (max_rows(shape, limits) + uint64_t{kPanelRows - 1} * limits.max_sequences) / kPanelRows * kPanelRows;
}

// What an op sees when a session is planned.
struct PlanStep {
  const heed_model& model;
  const schema::Node& node;
  const heed_limits& limits;
  Shape in[HEED_MAX_PORTS];
  uint32_t in_count;
  uint32_t tile_rows;           // most rows of one tile of any pass
  heed_diagnostic* diagnostic;  // never null
};

// A value while a pass runs: [rows, features], rows `stride` floats apart and 64-byte aligned.
struct Tensor {
  float* data = nullptr;
  const int32_t* ids = nullptr;  // instead of data; null for an optional input that is absent
  uint32_t rows = 0;
  uint32_t features = 0;
  uint32_t stride = 0;
  const uint32_t* row_begin = nullptr;   // [sequences + 1]; null where every sequence has sequence_rows
  const uint32_t* slot_begin = nullptr;  // the same with each sequence rounded up to whole panels of keys
  uint32_t sequence_rows = 0;

  // Where a sequence begins (and the one before it ends), in rows and in key slots.
  uint32_t begin(uint32_t sequence) const { return row_begin ? row_begin[sequence] : sequence * sequence_rows; }
  uint32_t slots(uint32_t sequence) const {
    return slot_begin ? slot_begin[sequence] : sequence * static_cast<uint32_t>(padded_keys(sequence_rows));
  }
  float* row(uint64_t index) const { return data + index * stride; }
};

// What an op sees while a pass runs.
struct Step {
  const heed_model& model;
  const schema::Node& node;
  const heed_limits& limits;
  const Kernels& kernels;
  Tensor in[HEED_MAX_PORTS];
  Tensor out[HEED_MAX_PORTS];
  uint32_t in_count;
  uint32_t sequences;
  uint32_t tile_rows;    // rows of one tile in this pass: a multiple of 8, at most PlanStep's
  uint8_t* workspace;    // of the op, kept between its phases; 64-byte aligned
  StateView state;       // the node's, if it names one
  uint32_t node_index;
  heed_tap tap;
  void* tap_context;
};

struct Op {
  schema::OpKind kind;
  const char* name;
  // The attributes of a node that it reads; a node that sets another one is refused before `check`.
  Attributes reads;
  // Whether the op may write its first output over its first input when nobody else needs it.
  bool in_place;
  // Checks attributes, weights and input shapes, and tells the shape of each output that the node names (others: features 0).
  heed_status (*check)(const PlanStep& step, Shape* out);
  // Bytes kept between phases, for the whole input; may be null.
  uint64_t (*workspace_bytes)(const PlanStep& step);
  // Bytes one tile needs; may be null. Does not depend on the number of keys.
  uint64_t (*scratch_bytes)(const PlanStep& step);
  uint32_t phases;
  uint32_t (*tiles)(const Step& step, uint32_t phase);
  void (*tile)(const Step& step, uint32_t phase, uint32_t index, uint8_t* scratch);
  // Bounds of what the pass brings (ids); may be null. Runs before any tile of the graph.
  heed_status (*check_input)(const Step& step, heed_diagnostic* diagnostic);
};

// The ops of this build, each in a file of its own.
#define HEED_OP(name, file) extern const Op k##name##Op;
#include "built_ops.inc"
#undef HEED_OP

// The op called for by a node, or null if this build does not have it.
const Op* find_op(schema::OpKind kind);

}  // namespace heed
