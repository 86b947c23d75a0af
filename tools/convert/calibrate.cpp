// Channel maxima over sample texts, and the scales that even them out.
// SPDX-License-Identifier: Apache-2.0
#include "convert/calibrate.h"

#include <algorithm>
#include <cmath>

#include "convert/evaluate.h"
#include "convert/sample_texts.h"
#include "error.h"
#include "files.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

// A channel smaller than this share of the largest counts as that large, so that no scale gets out of hand.
constexpr float kLeastShare = 1e-4f;

void raise(std::vector<float>& largest, uint32_t column, float value) {
  largest[column] = std::max(largest[column], std::fabs(value));
}

void floor_at_share(std::vector<float>& largest) {
  const float top = *std::max_element(largest.begin(), largest.end());
  for (float& one : largest) one = top > 0 ? std::max(one, top * kLeastShare) : 1;
}

// Largest magnitude of each column over all the matrices of a group.
std::vector<float> column_maxima(const Spec& spec, const std::vector<int32_t>& group) {
  std::vector<float> largest(spec.model.weights[group[0]]->cols);
  for (const int32_t id : group) {
    const std::vector<float> values = to_f32(spec.weights[id].values);
    for (size_t i = 0; i < values.size(); ++i) raise(largest, static_cast<uint32_t>(i % largest.size()), values[i]);
  }
  return largest;
}

}  // namespace

InputScales calibrate(const Spec& spec, const fs::path& draft, const fs::path& texts, ConvertReport& report) {
  const schema::GraphInputT& input = *spec.model.graphs.at(0)->inputs.at(0);
  if (!spec.model.tokenizer || input.type != schema::ElementType::i32) {
    throw Error("--calibrate: this model has no tokenizer, so it cannot read texts");
  }
  const MappedFile bytes(draft);
  heed_model model;
  if (heed_open(bytes.data(), bytes.size(), 0, &model, nullptr) != HEED_OK) {
    throw Error(draft.string() + ": was changed");
  }
  const std::vector<Values> sequences = tokenize_texts(model, *spec.model.metadata, texts);
  const Evaluator evaluator(spec);
  InputScales largest;
  const auto watch = [&](int32_t weight, const Values& input) {
    std::vector<float>& maxima = largest.try_emplace(weight, input.features).first->second;
    for (size_t i = 0; i < input.data.size(); ++i) {
      raise(maxima, static_cast<uint32_t>(i % input.features), input.data[i]);
    }
  };
  for (const Values& tokens : sequences) evaluator.run({{input.name, tokens}}, watch);

  InputScales scales;
  for (const auto& node : spec.model.graphs.at(0)->nodes) {
    for (const std::vector<int32_t>& group : weights_by_input(*node)) {
      if (spec.model.weights[group[0]]->format != schema::Format::q8c) continue;
      std::vector<float> inputs = largest.at(group[0]);
      std::vector<float> columns = column_maxima(spec, group);
      floor_at_share(inputs);
      floor_at_share(columns);
      for (size_t c = 0; c < inputs.size(); ++c) columns[c] = std::sqrt(columns[c] / inputs[c]);
      for (const int32_t id : group) scales[id] = columns;
    }
  }
  report.calibration_texts = static_cast<uint32_t>(sequences.size());
  return scales;
}

}  // namespace heed::tools
