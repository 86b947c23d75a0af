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
// A tile is one sequence in one direction. It works on tile_rows rows at a time: their products with W together, then one
// row after another. So what it needs does not grow with the sequence.
#include <cstring>

#include "ops/block.h"

namespace heed {
namespace {

using schema::CellKind;
using schema::DirectionKind;

struct Cell {
  WeightView input;
  WeightView state;
  uint32_t hidden;
  uint32_t gates;
  bool lstm;
};

bool is_lstm(const schema::Node& node) { return node.cell() == CellKind::lstm; }
uint32_t directions(const schema::Node& node) { return node.direction() == DirectionKind::both ? 2 : 1; }
uint32_t gates_of(const schema::Node& node) { return is_lstm(node) ? 4 : 3; }

Cell cell_of(const heed_model& model, const schema::Node& node, uint32_t direction) {
  const bool second = direction == 1;
  Cell cell{weight_view(model, second ? node.backward_weight() : node.weight()),
            weight_view(model, second ? node.backward_recurrent() : node.recurrent()), 0, gates_of(node), is_lstm(node)};
  cell.hidden = cell.state.cols;
  return cell;
}

struct Scratch {
  LinearScratch input;
  LinearScratch state;
  float* products;  // [tile_rows, gates * hidden] of the input
  uint64_t stride;
  float* gates;     // [gates * hidden] of the state
  float* memory;    // [hidden] m of an lstm
  float* first;     // [hidden] h before the first row
};

Scratch take_scratch(Carver& carver, const Cell& cell, uint32_t tile_rows) {
  Scratch scratch{};
  scratch.input = take_linear_scratch(carver, cell.input, tile_rows);
  scratch.state = take_linear_scratch(carver, cell.state, 1);
  scratch.stride = round_up(uint64_t{cell.gates} * cell.hidden, 16);
  scratch.products = carver.take<float>(tile_rows * scratch.stride);
  scratch.gates = carver.take<float>(scratch.stride);
  scratch.memory = carver.take<float>(cell.lstm ? cell.hidden : 0);
  scratch.first = carver.take<float>(cell.hidden);
  return scratch;
}

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
  uint64_t most = 0;
  for (uint32_t d = 0; d < directions(step.node); ++d) {
    Carver counter(nullptr);
    take_scratch(counter, cell_of(step.model, step.node, d), step.tile_rows);
    most = counter.used() > most ? counter.used() : most;
  }
  return most;
}

uint32_t tiles(const Step& step, uint32_t) { return step.sequences * directions(step.node); }

// One sequence in one direction.
class Run {
 public:
  Run(const Step& step, uint32_t sequence, uint32_t direction, uint8_t* memory)
      : step_(step),
        kernels_(step.kernels),
        cell_(cell_of(step.model, step.node, direction)),
        sequence_(sequence),
        offset_(direction * cell_.hidden),
        backward_(direction == 1 || step.node.direction() == DirectionKind::backward) {
    Carver carver(memory);
    scratch_ = take_scratch(carver, cell_, step.tile_rows);
  }

  void run() {
    const Tensor& in = step_.in[0];
    const uint32_t begin = in.begin(sequence_);
    const uint32_t rows = in.begin(sequence_ + 1) - begin;
    start();
    const float* h = scratch_.first;
    for (uint32_t done = 0; done < rows;) {
      const uint32_t count = rows - done < step_.tile_rows ? rows - done : step_.tile_rows;
      const uint32_t first = backward_ ? begin + rows - done - count : begin + done;
      apply_linear(kernels_, cell_.input, {in.row(first), in.stride, count},
                   store_to(scratch_.products, scratch_.stride), scratch_.input);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = backward_ ? count - 1 - i : i;
        float* next = step_.out[0].row(first + at) + offset_;
        advance(scratch_.products + at * scratch_.stride, h, next);
        h = next;
      }
      done += count;
    }
    finish(h);
  }

 private:
  void copy(float* to, const float* from) const { std::memcpy(to, from, cell_.hidden * sizeof(float)); }
  void activate(float* x, uint32_t count, ActivationFunction function) const {
    kernels_.activate({x, count, function, x});
  }

  void start() const {
    std::memset(scratch_.first, 0, cell_.hidden * sizeof(float));
    if (cell_.lstm) std::memset(scratch_.memory, 0, cell_.hidden * sizeof(float));
    if (step_.in_count == 1) return;
    copy(scratch_.first, step_.in[1].row(sequence_) + offset_);
    if (cell_.lstm) copy(scratch_.memory, step_.in[2].row(sequence_) + offset_);
  }

  void finish(const float* h) const {
    if (step_.node.outputs()->size() == 1) return;
    copy(step_.out[1].row(sequence_) + offset_, h);
    if (cell_.lstm) copy(step_.out[2].row(sequence_) + offset_, scratch_.memory);
  }

  // From h to the next one; x has the input's products.
  void advance(float* x, const float* h, float* next) const {
    const uint32_t n = cell_.hidden;
    float* g = scratch_.gates;
    apply_linear(kernels_, cell_.state, {h, n, 1}, store_to(g, scratch_.stride), scratch_.state);
    if (cell_.lstm) {
      kernels_.add({x, g, uint64_t{4} * n, g});
      advance_lstm(g, g + n, g + 2 * n, g + 3 * n, next);
    } else {
      kernels_.add({x, g, uint64_t{2} * n, g});
      activate(g, 2 * n, ActivationFunction::kSigmoid);
      kernels_.multiply({g, g + 2 * n, n, g + 2 * n});
      kernels_.add({x + 2 * n, g + 2 * n, n, g + 2 * n});
      activate(g + 2 * n, n, ActivationFunction::kTanh);
      kernels_.mix({g + 2 * n, h, g + n, n, next});
    }
  }

  void advance_lstm(float* i, float* f, float* g, float* o, float* next) const {
    const uint32_t n = cell_.hidden;
    activate(i, 2 * n, ActivationFunction::kSigmoid);
    activate(g, n, ActivationFunction::kTanh);
    activate(o, n, ActivationFunction::kSigmoid);
    kernels_.multiply({f, scratch_.memory, n, f});
    kernels_.multiply({i, g, n, i});
    kernels_.add({f, i, n, scratch_.memory});
    kernels_.activate({scratch_.memory, n, ActivationFunction::kTanh, i});
    kernels_.multiply({o, i, n, next});
  }

  const Step& step_;
  const Kernels& kernels_;
  const Cell cell_;
  const uint32_t sequence_;
  const uint32_t offset_;  // of this direction's features
  const bool backward_;
  Scratch scratch_;
};

void tile(const Step& step, uint32_t, uint32_t index, uint8_t* memory) {
  const uint32_t n = directions(step.node);
  Run(step, index / n, index % n, memory).run();
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
