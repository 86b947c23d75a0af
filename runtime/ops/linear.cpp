// Linear: out = activation(in * weight^T + bias).
// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul.h"
#include "ops/rows.h"

namespace heed {
namespace {

heed_status check(const PlanStep& step, Shape* out) {
  if (heed_status s = expect_inputs(step, 1)) return s;
  if (step.node.weight() < 0) return refuse(step.diagnostic, HEED_BAD_GRAPH, "weight missing");
  step.diagnostic->weight = step.node.weight();
  const WeightView weight = weight_view(step.model, step.node.weight());
  if (!can_multiply(weight)) return refuse(step.diagnostic, HEED_UNSUPPORTED, "format or layout of a matrix");
  if (heed_status s = expect_features(step, "features", step.in[0].features, weight.cols)) return s;
  step.diagnostic->weight = -1;
  out[0] = step.in[0];
  out[0].features = weight.rows;
  return HEED_OK;
}

uint64_t scratch_bytes(const PlanStep& step) {
  return linear_scratch_bytes(weight_view(step.model, step.node.weight()), step.tile_rows);
}

void tile(const Step& step, uint32_t, uint32_t index, uint8_t* scratch) {
  const WeightView weight = weight_view(step.model, step.node.weight());
  const RowRange range = tile_of_rows(step, index);
  Carver carver(scratch);
  const LinearScratch room = take_linear_scratch(carver, weight, step.tile_rows);
  Epilogue epilogue{};
  epilogue.activation = static_cast<ActivationFunction>(step.node.activation());
  epilogue.out = step.out[0].row(range.begin);
  epilogue.out_stride = step.out[0].stride;
  apply_linear(step.kernels, weight, {step.in[0].row(range.begin), step.in[0].stride, range.count}, epilogue, room);
}

}  // namespace

const Op kLinearOp = {schema::OpKind::Linear,
                      "Linear",
                      attributes(Attribute::weight, Attribute::activation),
                      false,
                      check,
                      nullptr,
                      scratch_bytes,
                      1,
                      tiles_of_rows,
                      tile,
                      nullptr};

}  // namespace heed
