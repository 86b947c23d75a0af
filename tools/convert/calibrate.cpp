// The size of each channel over sample texts, and the scales that even them out.
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

void floor_at_share(std::vector<float>& sizes) {
  const float top = *std::max_element(sizes.begin(), sizes.end());
  for (float& one : sizes) one = top > 0 ? std::max(one, top * kLeastShare) : 1;
}

// What a matrix was given over all texts. Root mean squares and not maxima: one odd token does not decide for a channel.
struct Squares {
  std::vector<double> sums;  // of each column
  uint64_t rows = 0;

  void add(const Values& input) {
    sums.resize(input.features);
    for (size_t i = 0; i < input.data.size(); ++i) {
      sums[i % input.features] += static_cast<double>(input.data[i]) * input.data[i];
    }
    rows += input.data.size() / input.features;
  }
  std::vector<float> root_means() const {
    std::vector<float> roots;
    for (const double sum : sums) roots.push_back(static_cast<float>(std::sqrt(sum / static_cast<double>(rows))));
    return roots;
  }
};

// Largest magnitude of each column over all the matrices of a group.
std::vector<float> column_maxima(const Spec& spec, const std::vector<int32_t>& group) {
  std::vector<float> largest(spec.model.weights[group[0]]->cols);
  for (const int32_t id : group) {
    const std::vector<float> values = to_f32(spec.weights[id].values);
    for (size_t i = 0; i < values.size(); ++i) {
      float& column = largest[i % largest.size()];
      column = std::max(column, std::fabs(values[i]));
    }
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
  std::map<int32_t, Squares> squares;
  const auto watch = [&](int32_t weight, const Values& seen) { squares[weight].add(seen); };
  for (const Values& tokens : sequences) evaluator.run({{input.name, tokens}}, watch);

  InputScales scales;
  for (const auto& node : spec.model.graphs.at(0)->nodes) {
    for (const std::vector<int32_t>& group : weights_by_input(*node)) {
      if (spec.model.weights[group[0]]->format != schema::Format::q8c) continue;
      std::vector<float> inputs = squares.at(group[0]).root_means();
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
