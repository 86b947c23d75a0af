// Norms as ops use them: a weight of one row with the gain, its bias with the shift.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/matmul.h"
#include "ops/rows.h"

namespace heed {

// Whether weight `id` is a vector of `features` f32.
inline heed_status check_vector(const PlanStep& step, int32_t id, uint64_t features, const char* what) {
  const WeightView gain = weight_view(step.model, id);
  step.diagnostic->weight = id;
  if (gain.format != schema::Format::f32 || gain.layout != schema::Layout::rows || gain.rows != 1) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, what);
  }
  if (heed_status s = expect_features(step, what, gain.cols, features)) return s;
  step.diagnostic->weight = -1;
  return HEED_OK;
}

// Whether weight `id` can norm rows of `features`. -1 (absent) can.
inline heed_status check_norm(const PlanStep& step, int32_t id, uint32_t features, const char* what) {
  return id < 0 ? HEED_OK : check_vector(step, id, features, what);
}

// out = norm(in) with the node's kind and epsilon; `out` may be the memory of `in`.
inline void normalize(const Step& step, int32_t id, const FloatRows& in, float* out, uint64_t out_stride) {
  const WeightView gain = weight_view(step.model, id);
  step.kernels.normalize_rows({in.data, in.stride, in.rows, gain.cols,
                               static_cast<NormFunction>(step.node.norm_kind()), step.node.epsilon(),
                               static_cast<const float*>(gain.data), gain.bias, out, out_stride});
}

}  // namespace heed
