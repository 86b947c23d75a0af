// What a recurrent layer is made of, and its work on one sequence in one direction.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/block.h"

namespace heed {

inline bool is_lstm(const schema::Node& node) { return node.cell() == schema::CellKind::lstm; }
inline uint32_t gates_of(const schema::Node& node) { return is_lstm(node) ? 4 : 3; }
inline uint32_t directions(const schema::Node& node) {
  return node.direction() == schema::DirectionKind::both ? 2 : 1;
}

// The cell of one direction: its weights and widths.
struct RecurrentCell {
  WeightView input;
  WeightView state;
  uint32_t hidden;
  uint32_t gates;
  bool lstm;
};
RecurrentCell recurrent_cell(const heed_model& model, const schema::Node& node, uint32_t direction);

struct RecurrentScratch {
  LinearScratch input;
  LinearScratch state;
  float* products;  // [rows, gates * hidden] of the input
  uint64_t stride;
  float* gates;     // [gates * hidden] of the state
  float* memory;    // [hidden] m of an lstm
  float* first;     // [hidden] h before the first row
};

// For `rows` rows at a time.
RecurrentScratch take_recurrent(Carver& carver, const RecurrentCell& cell, uint32_t rows);
// How many rows of a sequence of `rows` are multiplied with W at once.
inline uint32_t rows_together(uint32_t rows, uint32_t tile_rows) { return rows < tile_rows ? rows : tile_rows; }

// The tile of one sequence and direction.
void run_recurrent(const Step& step, uint32_t sequence, uint32_t direction, uint8_t* scratch);

}  // namespace heed
