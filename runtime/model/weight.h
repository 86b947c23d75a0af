// A weight of an opened model, resolved to pointers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "heed/heed.h"
#include "model_generated.h"

namespace heed {

struct WeightView {
  uint32_t rows = 0;
  uint32_t cols = 0;
  schema::Format format = schema::Format::f32;
  schema::Layout layout = schema::Layout::rows;
  const void* data = nullptr;
  const float* bias = nullptr;         // null: none
  const float* scales = nullptr;       // q8c
  const int32_t* sums = nullptr;       // q8c in panel16
  const float* input_scale = nullptr;  // null: none
};

inline const schema::Model& root(const heed_model& model) { return *static_cast<const schema::Model*>(model.root); }

// The weight with id `id`, which must be in range (validate.cpp has seen to that), not -1.
WeightView weight_view(const heed_model& model, int32_t id);

}  // namespace heed
