// Recurrent: one layer of GRU or LSTM cells as PyTorch defines them, over each sequence forward, backward or both.
// SPDX-License-Identifier: Apache-2.0
//
//     gru:  r = sigmoid(W_r x + b_r + U_r h + c_r), z likewise, n = tanh(W_n x + b_n + r * (U_n h + c_n)),
//           h' = n + z * (h - n)
//     lstm: i, f, o = sigmoid(...), g = tanh(...), m' = f * m + i * g, h' = o * tanh(m')
//
// `weight` is W with bias b, `recurrent` U with bias c: [gates * hidden, inputs], gates in the order r, z, n or i, f, g, o.
// Inputs: rows; optionally h, and m of an lstm, before the first row, one row for each sequence (else zeros). Outputs: h
// after each row; optionally h, and m of an lstm, after the last one. With `both`, features are those of the forward
// direction and then those of the backward one, in every input and output of h and m.
//
// A tile is one sequence in one direction. It works on at most tile_rows rows at a time: their products with W together, then
// one row after another. So what it needs does not grow with the sequence.
#include "ops/recurrent.h"

namespace heed {
namespace {

using schema::DirectionKind;

heed_status check_pair(const PlanStep& step, int32_t input, int32_t state, uint32_t hidden) {
  const uint64_t rows = uint64_t{gates_of(step.node)} * hidden;
  if (heed_status s = check_matrix(step, input, rows, step.in[0].features, "weight")) return s;
  return check_matrix(step, state, rows, hidden, "recurrent");
}

// One row for each sequence with h or m.
heed_status check_start(const PlanStep& step, const Shape& shape, uint32_t features) {
  if (shape.ragged || shape.rows != 1) {
    return refuse(step.diagnostic, HEED_BAD_SHAPE, "one row for each sequence wanted", shape.rows, 1);
  }
  return expect_features(step, "features of a start", shape.features, features);
}

heed_status check(const PlanStep& step, Shape* out) {
  const schema::Node& node = step.node;
  const uint32_t kept = is_lstm(node) ? 2 : 1;
  const uint32_t outputs = node.outputs()->size();
  if (heed_status s = expect_inputs(step, step.in_count == 1 ? 1 : 1 + kept)) return s;
  if (node.recurrent() < 0) return refuse(step.diagnostic, HEED_BAD_GRAPH, "recurrent");
  const uint32_t hidden = weight_view(step.model, node.recurrent()).cols;
  if (heed_status s = check_pair(step, node.weight(), node.recurrent(), hidden)) return s;
  const bool both = node.direction() == DirectionKind::both;
  if (both != (node.backward_weight() >= 0) || both != (node.backward_recurrent() >= 0)) {
    return refuse(step.diagnostic, HEED_BAD_GRAPH, "backward weights belong to direction both");
  }
  if (both) {
    if (heed_status s = check_pair(step, node.backward_weight(), node.backward_recurrent(), hidden)) return s;
  }
  const uint32_t features = hidden * directions(node);
  for (uint32_t i = 1; i < step.in_count; ++i) {
    if (heed_status s = check_start(step, step.in[i], features)) return s;
  }
  out[0] = step.in[0];
  out[0].features = features;
  for (uint32_t i = 1; outputs > 1 && i <= kept; ++i) out[i] = {false, 0, 1, features, false};
  return HEED_OK;
}

uint64_t scratch_bytes(const PlanStep& step) {
  const uint32_t rows = rows_together(step.in[0].rows, step.tile_rows);
  uint64_t most = 0;
  for (uint32_t d = 0; d < directions(step.node); ++d) {
    Carver counter(nullptr);
    take_recurrent(counter, recurrent_cell(step.model, step.node, d), rows);
    most = counter.used() > most ? counter.used() : most;
  }
  return most;
}

uint32_t tiles(const Step& step, uint32_t) { return step.sequences * directions(step.node); }

void tile(const Step& step, uint32_t, uint32_t index, uint8_t* memory) {
  const uint32_t n = directions(step.node);
  run_recurrent(step, index / n, index % n, memory);
}

}  // namespace

using A = Attribute;
const Op kRecurrentOp = {schema::OpKind::Recurrent,
                         "Recurrent",
                         attributes(A::weight, A::recurrent, A::backward_weight, A::backward_recurrent, A::cell, A::direction),
                         false,
                         check,
                         nullptr,
                         scratch_bytes,
                         1,
                         tiles,
                         tile,
                         nullptr};

}  // namespace heed
