// What the ops of a transformer block share: a norm of the input, the last product with residual and norms, and rows
// that several weights read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>

#include "ops/matmul.h"
#include "ops/norms.h"

namespace heed {

// Scratch of a block; a pointer is null where the node has no such norm.
struct BlockScratch {
  float* normed;  // [tile_rows, input features]
  uint64_t normed_stride;
  float* branch;  // [tile_rows, output features]
  uint64_t branch_stride;
};

// `first` is any weight that reads the block's input, `last` the one that makes its output.
inline BlockScratch take_block(Carver& carver, const schema::Node& node, const WeightView& first,
                               const WeightView& last, uint32_t tile_rows) {
  BlockScratch scratch{nullptr, round_up(first.cols, 16), nullptr, round_up(last.rows, 16)};
  if (node.norm_in() >= 0) scratch.normed = carver.take<float>(tile_rows * scratch.normed_stride);
  if (node.norm_branch() >= 0) scratch.branch = carver.take<float>(tile_rows * scratch.branch_stride);
  return scratch;
}

// Norms and residual fit between an input and an output of these features.
inline heed_status check_block(const PlanStep& step, uint32_t in_features, uint32_t out_features) {
  if (heed_status s = check_norm(step, step.node.norm_in(), in_features, "norm_in")) return s;
  if (heed_status s = check_norm(step, step.node.norm_branch(), out_features, "norm_branch")) return s;
  if (heed_status s = check_norm(step, step.node.norm_out(), out_features, "norm_out")) return s;
  return step.node.residual() ? expect_features(step, "features of a residual", out_features, in_features) : HEED_OK;
}

// A matrix that a block needs, of a form that products can read. `rows` 0: any.
inline heed_status check_matrix(const PlanStep& step, int32_t id, uint64_t rows, uint64_t cols, const char* what) {
  if (id < 0) return refuse(step.diagnostic, HEED_BAD_GRAPH, what);
  const WeightView weight = weight_view(step.model, id);
  step.diagnostic->weight = id;
  if (!can_multiply(weight)) return refuse(step.diagnostic, HEED_UNSUPPORTED, "format or layout of a matrix");
  if (rows > 0) {
    if (heed_status s = expect_features(step, what, weight.rows, rows)) return s;
  }
  if (heed_status s = expect_features(step, what, weight.cols, cols)) return s;
  step.diagnostic->weight = -1;
  return HEED_OK;
}

// The rows that the block's first products read: the input's, or their norm.
inline FloatRows block_input(const Step& step, const Tensor& in, RowRange range, const BlockScratch& scratch) {
  const FloatRows rows{in.row(range.begin), in.stride, range.count};
  if (step.node.norm_in() < 0) return rows;
  normalize(step, step.node.norm_in(), rows, scratch.normed, scratch.normed_stride);
  return {scratch.normed, scratch.normed_stride, range.count};
}

// Products of the same rows with several weights; rows are quantized again only for another input scale.
class SharedRows {
 public:
  SharedRows(const Kernels& kernels, const FloatRows& rows, const LinearScratch& scratch)
      : kernels_(kernels), rows_(rows), scratch_(scratch) {}

  void multiply(const WeightView& weight, const Epilogue& epilogue) {
    if (weight.format != schema::Format::q8c) {
      multiply_floats(kernels_, weight, rows_, epilogue, scratch_.tile);
      return;
    }
    if (!quantized_ || weight.input_scale != input_scale_) quantize_for(kernels_, weight, rows_, scratch_.quantized);
    quantized_ = true;
    input_scale_ = weight.input_scale;
    multiply_quantized(kernels_, weight, scratch_.quantized, rows_.rows, epilogue, scratch_.tile);
  }

 private:
  const Kernels& kernels_;
  const FloatRows rows_;
  const LinearScratch& scratch_;
  bool quantized_ = false;
  const float* input_scale_ = nullptr;
};

inline Epilogue store_to(float* out, uint64_t stride) {
  Epilogue epilogue{};
  epilogue.out = out;
  epilogue.out_stride = stride;
  return epilogue;
}

// apply_linear, or the rows themselves where the weight is absent. Of the epilogue then only the residual counts.
inline void apply_or_copy(const Kernels& kernels, const WeightView& weight, const FloatRows& in,
                          const Epilogue& epilogue, const LinearScratch& room) {
  if (weight.present()) return apply_linear(kernels, weight, in, epilogue, room);
  for (uint32_t r = 0; r < in.rows; ++r) {
    const float* row = in.data + r * in.stride;
    float* out = epilogue.out + r * epilogue.out_stride;
    if (epilogue.residual == nullptr) {
      std::memcpy(out, row, weight.cols * sizeof(float));
    } else {
      kernels.add({epilogue.residual + r * epilogue.residual_stride, row, weight.cols, out});
    }
  }
}

// out = norm_out(x + norm_branch(hidden * weight^T + bias)), each part where the node has it.
inline void finish_block(const Step& step, RowRange range, const WeightView& weight, const FloatRows& hidden,
                         const LinearScratch& room, const BlockScratch& scratch) {
  const schema::Node& node = step.node;
  const Tensor& in = step.in[0];
  const Tensor& out = step.out[0];
  float* out_rows = out.row(range.begin);
  if (node.norm_branch() < 0) {
    Epilogue epilogue = store_to(out_rows, out.stride);
    epilogue.residual = node.residual() ? in.row(range.begin) : nullptr;
    epilogue.residual_stride = in.stride;
    apply_or_copy(step.kernels, weight, hidden, epilogue, room);
  } else {
    apply_or_copy(step.kernels, weight, hidden, store_to(scratch.branch, scratch.branch_stride), room);
    float* normed = node.residual() ? scratch.branch : out_rows;
    const uint64_t stride = node.residual() ? scratch.branch_stride : out.stride;
    normalize(step, node.norm_branch(), {scratch.branch, scratch.branch_stride, range.count}, normed, stride);
    for (uint32_t r = 0; node.residual() && r < range.count; ++r) {
      step.kernels.add({in.row(range.begin + r), normed + r * stride, out.features, out.row(range.begin + r)});
    }
  }
  if (node.norm_out() >= 0) {
    normalize(step, node.norm_out(), {out_rows, out.stride, range.count}, out_rows, out.stride);
  }
}

}  // namespace heed
