// A recurrent layer's work on one sequence in one direction: products of some rows, then one row after another.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/recurrent.h"

namespace heed {
namespace {

// One sequence in one direction.
class Run {
 public:
  Run(const Step& step, uint32_t sequence, uint32_t direction, uint8_t* memory)
      : step_(step),
        kernels_(step.kernels),
        cell_(recurrent_cell(step.model, step.node, direction)),
        sequence_(sequence),
        begin_(step.in[0].begin(sequence)),
        rows_(step.in[0].begin(sequence + 1) - begin_),
        together_(rows_together(rows_, step.tile_rows)),
        offset_(direction * cell_.hidden),
        backward_(direction == 1 || step.node.direction() == schema::DirectionKind::backward) {
    Carver carver(memory);
    scratch_ = take_recurrent(carver, cell_, together_);
  }

  void run() {
    const Tensor& in = step_.in[0];
    start();
    const float* h = scratch_.first;
    for (uint32_t done = 0; done < rows_;) {
      const uint32_t count = rows_together(rows_ - done, together_);
      const uint32_t first = begin_ + (backward_ ? rows_ - done - count : done);
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
  const RecurrentCell cell_;
  const uint32_t sequence_;
  const uint32_t begin_;
  const uint32_t rows_;
  const uint32_t together_;  // rows that are multiplied with W at once
  const uint32_t offset_;  // of this direction's features
  const bool backward_;
  RecurrentScratch scratch_;
};

}  // namespace

RecurrentCell recurrent_cell(const heed_model& model, const schema::Node& node, uint32_t direction) {
  const bool second = direction == 1;
  RecurrentCell cell{weight_view(model, second ? node.backward_weight() : node.weight()),
            weight_view(model, second ? node.backward_recurrent() : node.recurrent()), 0, gates_of(node), is_lstm(node)};
  cell.hidden = cell.state.cols;
  return cell;
}

// The two products never run at once, so they share the tile.
RecurrentScratch take_recurrent(Carver& carver, const RecurrentCell& cell, uint32_t rows) {
  RecurrentScratch scratch{};
  scratch.input = take_linear_scratch(carver, cell.input, rows);
  scratch.state.tile = scratch.input.tile;
  if (cell.state.format == schema::Format::q8c) scratch.state.quantized = take_quantized(carver, 1, cell.hidden);
  scratch.stride = round_up(uint64_t{cell.gates} * cell.hidden, 16);
  scratch.products = carver.take<float>(rows * scratch.stride);
  scratch.gates = carver.take<float>(scratch.stride);
  scratch.memory = carver.take<float>(cell.lstm ? cell.hidden : 0);
  scratch.first = carver.take<float>(cell.hidden);
  return scratch;
}

void run_recurrent(const Step& step, uint32_t sequence, uint32_t direction, uint8_t* scratch) {
  Run(step, sequence, direction, scratch).run();
}

}  // namespace heed
