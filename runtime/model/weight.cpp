// Where the parts of a weight lie and how many bytes they take.
// SPDX-License-Identifier: Apache-2.0
#include "model/weight.h"

#include "quant/panel.h"

namespace heed {

WeightParts weight_parts(const WeightForm& form) {
  const uint64_t rows = form.rows;
  const uint64_t cols = form.cols;
  const bool panels = form.layout == schema::Layout::panel16;
  const bool vector = rows == 1 && !panels;
  WeightParts parts;
  if (form.format == schema::Format::q8c) {
    parts.data = panels ? matrix_i8_bytes(rows, cols) : rows * cols;
    parts.scales = rows * sizeof(float);
    parts.sums = panels ? rows * sizeof(int32_t) : 0;
  } else {
    const uint64_t bytes = form.format == schema::Format::f16 ? 2 : 4;
    parts.data = (panels ? matrix_f32_elems(rows, cols) : rows * cols) * bytes;
  }
  parts.bias = form.has_bias ? (vector ? cols : rows) * sizeof(float) : 0;
  parts.input_scale = form.has_input_scale ? cols * sizeof(float) : 0;
  return parts;
}

WeightView weight_view(const heed_model& model, int32_t id) {
  const schema::Weight& weight = *root(model).weights()->Get(static_cast<uint32_t>(id));
  const auto at = [&](uint64_t offset) { return model.weights + offset; };
  WeightView view;
  view.rows = weight.rows();
  view.cols = weight.cols();
  view.format = weight.format();
  view.layout = weight.layout();
  view.data = at(weight.data());
  if (weight.has_bias()) view.bias = reinterpret_cast<const float*>(at(weight.bias()));
  if (weight.format() == schema::Format::q8c) {
    view.scales = reinterpret_cast<const float*>(at(weight.scales()));
    if (weight.layout() == schema::Layout::panel16) view.sums = reinterpret_cast<const int32_t*>(at(weight.sums()));
  }
  if (weight.has_input_scale()) view.input_scale = reinterpret_cast<const float*>(at(weight.input_scale()));
  return view;
}

}  // namespace heed
