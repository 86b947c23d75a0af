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

  bool present() const { return data != nullptr; }
};

inline const schema::Model& root(const heed_model& model) { return *static_cast<const schema::Model*>(model.root); }

// The weight with id `id`, which must be in range (validate.cpp has seen to that), not -1.
WeightView weight_view(const heed_model& model, int32_t id);
// The same; for -1 an absent weight, which stands for `features` features left as they are.
inline WeightView optional_weight(const heed_model& model, int32_t id, uint32_t features) {
  if (id >= 0) return weight_view(model, id);
  WeightView absent;
  absent.rows = absent.cols = features;
  return absent;
}

// Bytes of each part of a weight, 0 for a part that it does not have. A weight of one row in layout `rows` is a vector
// (a norm): its bias has an entry for each column.
struct WeightParts {
  uint64_t data = 0;
  uint64_t bias = 0;
  uint64_t scales = 0;
  uint64_t sums = 0;
  uint64_t input_scale = 0;
};
struct WeightForm {
  uint32_t rows;
  uint32_t cols;
  schema::Format format;
  schema::Layout layout;
  bool has_bias;
  bool has_input_scale;
};
WeightParts weight_parts(const WeightForm& form);
inline WeightParts weight_parts(const schema::Weight& weight) {
  return weight_parts({weight.rows(), weight.cols(), weight.format(), weight.layout(), weight.has_bias(),
                       weight.has_input_scale()});
}

}  // namespace heed
