// FeedForward: out = norm_out(x + norm_branch(down(hidden))), with hidden = activation(up(h)), or
// activation(gate(h)) * up(h) where there is a gate, and h = norm_in(x).
// SPDX-License-Identifier: Apache-2.0
#include "ops/block.h"

namespace heed {
namespace {

struct Weights {
  WeightView up;
  WeightView gate;  // used if has_gate
  WeightView down;
  bool has_gate;
};

Weights weights_of(const heed_model& model, const schema::Node& node) {
  const bool has_gate = node.gate() >= 0;
  return {weight_view(model, node.up()), has_gate ? weight_view(model, node.gate()) : WeightView{},
          weight_view(model, node.down()), has_gate};
}

struct Scratch {
  BlockScratch block;
  float* hidden;  // [tile_rows, hidden]; quantized in place for `down`
  uint64_t hidden_stride;
  LinearScratch first;
  LinearScratch last;
};

Scratch take_scratch(Carver& carver, const schema::Node& node, const Weights& weights, uint32_t tile_rows) {
  Scratch scratch{};
  scratch.block = take_block(carver, node, weights.up, weights.down, tile_rows);
  const bool gate_int8 = weights.has_gate && weights.gate.format == schema::Format::q8c;
  scratch.first = take_linear_scratch(carver, gate_int8 ? weights.gate : weights.up, tile_rows);
  scratch.hidden_stride = round_up(weights.up.rows, 16);
  scratch.hidden = carver.take<float>(tile_rows * scratch.hidden_stride);
  scratch.last = {take_quantized_in_place(carver, scratch.hidden, scratch.hidden_stride, tile_rows),
                  scratch.first.tile};
  take_ranges(carver, weights.down, tile_rows, &scratch.last.quantized);
  return scratch;
}

heed_status check(const PlanStep& step, Shape* out) {
  const schema::Node& node = step.node;
  if (heed_status s = expect_inputs(step, 1)) return s;
  const uint32_t features = step.in[0].features;
  if (heed_status s = check_matrix(step, node.up(), 0, features, "up")) return s;
  const uint32_t hidden = weight_view(step.model, node.up()).rows;
  if (node.gate() >= 0) {
    if (heed_status s = check_matrix(step, node.gate(), hidden, features, "gate")) return s;
  }
  if (heed_status s = check_matrix(step, node.down(), 0, hidden, "down")) return s;
  out[0] = step.in[0];
  out[0].features = weight_view(step.model, node.down()).rows;
  return check_block(step, features, out[0].features);
}

uint64_t scratch_bytes(const PlanStep& step) {
  Carver counter(nullptr);
  take_scratch(counter, step.node, weights_of(step.model, step.node), step.tile_rows);
  return counter.used();
}

void tile(const Step& step, uint32_t, uint32_t index, uint8_t* memory) {
  const Weights weights = weights_of(step.model, step.node);
  const RowRange range = tile_of_rows(step, index);
  Carver carver(memory);
  const Scratch scratch = take_scratch(carver, step.node, weights, step.tile_rows);
  SharedRows rows(step.kernels, block_input(step, step.in[0], range, scratch.block), scratch.first);
  Epilogue epilogue = store_to(scratch.hidden, scratch.hidden_stride);
  epilogue.activation = static_cast<ActivationFunction>(step.node.activation());
  if (weights.has_gate) {
    rows.multiply(weights.gate, epilogue);
    epilogue.activation = ActivationFunction::kNone;
    epilogue.factor = scratch.hidden;
    epilogue.factor_stride = scratch.hidden_stride;
  }
  start_ranges(scratch.last.quantized, range.count);
  epilogue.ranges = scratch.last.quantized.ranges;
  rows.multiply(weights.up, epilogue);
  finish_block(step, range, weights.down, {scratch.hidden, scratch.hidden_stride, range.count}, scratch.last,
               scratch.block);
}

}  // namespace

using A = Attribute;
const Op kFeedForwardOp = {schema::OpKind::FeedForward,
                           "FeedForward",
                           attributes(A::up, A::gate, A::down, A::norm_in, A::norm_branch, A::norm_out, A::norm_kind,
                                      A::epsilon, A::activation, A::residual),
                           true,
                           check,
                           nullptr,
                           scratch_bytes,
                           1,
                           tiles_of_rows,
                           tile,
                           nullptr};

}  // namespace heed
