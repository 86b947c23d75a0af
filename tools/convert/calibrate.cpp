// The size of each channel over sample texts, and the scales that even them out.
// SPDX-License-Identifier: Apache-2.0
#include "convert/calibrate.h"

#include <algorithm>
#include <cmath>

#include "convert/evaluate.h"
#include "convert/sample_outputs.h"
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

const schema::GraphT* find_graph(const Spec& spec, const std::string& name) {
  for (const auto& graph : spec.model.graphs) {
    if (graph->name == name) return graph.get();
  }
  return nullptr;
}

const schema::GraphInputT& first_input(const schema::GraphT& graph) { return *graph.inputs.at(0); }

// Whether a run of several rows is not the same as several runs of one: a recurrent decoder reads one token at a time.
bool runs_by_row(const schema::GraphT& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) { return node->op == schema::OpKind::LoadState; });
}

// What an encoder-decoder reads while it writes `tokens`.
void run_translation(const Evaluator& evaluator, const schema::GraphT& decode, const Values& tokens, KeptStates& states, const Evaluator::Watch& watch) {
  const std::string& name = first_input(decode).name;
  if (!runs_by_row(decode)) {
    evaluator.run(decode, {{name, tokens}}, states, watch);
    return;
  }
  for (const int32_t id : tokens.ids) evaluator.run(decode, {{name, {1, 0, {}, {id}}}}, states, watch);
}

void check_lengths(const heed_model& model, const std::vector<Values>& sequences, const fs::path& texts) {
  heed_limits limits;
  heed_default_limits(&model, &limits);
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].rows <= limits.max_sequence_rows) continue;
    throw Error(texts.string() + ": text " + std::to_string(i + 1) + " has " + std::to_string(sequences[i].rows) + " tokens, the model takes at most " +
                std::to_string(limits.max_sequence_rows));
  }
}

// What every matrix is given while the model reads the texts and, of an encoder-decoder, writes its outputs.
std::map<int32_t, Squares> watch_inputs(const Spec& spec, const heed_model& model, const std::vector<Values>& sequences) {
  const Evaluator evaluator(spec);
  std::map<int32_t, Squares> squares;
  const auto watch = [&](int32_t weight, const Values& seen) { squares[weight].add(seen); };
  const schema::GraphT* decode = find_graph(spec, "encode") ? find_graph(spec, "decode") : nullptr;
  const schema::GraphT& encode = decode ? *find_graph(spec, "encode") : *spec.model.graphs.at(0);
  std::vector<Values> outputs;
  if (decode) outputs = sample_outputs(model, sequences);
  for (size_t i = 0; i < sequences.size(); ++i) {
    KeptStates states;
    evaluator.run(encode, {{first_input(encode).name, sequences[i]}}, states, watch);
    if (decode) run_translation(evaluator, *decode, outputs[i], states, watch);
  }
  return squares;
}

// Evens out the columns that a group of matrices reads.
void scale_group(const Spec& spec, const std::vector<int32_t>& group, const Squares& seen, InputScales& scales) {
  std::vector<float> inputs = seen.root_means();
  std::vector<float> columns = column_maxima(spec, group);
  floor_at_share(inputs);
  floor_at_share(columns);
  for (size_t c = 0; c < inputs.size(); ++c) columns[c] = std::sqrt(columns[c] / inputs[c]);
  for (const int32_t id : group) scales[id] = columns;
}

}  // namespace

InputScales calibrate(const Spec& spec, const fs::path& draft, const fs::path& texts, ConvertReport& report) {
  if (!spec.model.tokenizer || first_input(*spec.model.graphs.at(0)).type != schema::ElementType::i32) {
    throw Error("--calibrate: this model has no tokenizer, so it cannot read texts");
  }
  const MappedFile bytes(draft);
  heed_model model;
  if (heed_open(bytes.data(), bytes.size(), 0, &model, nullptr) != HEED_OK) {
    throw Error(draft.string() + ": was changed");
  }
  const std::vector<Values> sequences = tokenize_texts(model, *spec.model.metadata, texts);
  check_lengths(model, sequences, texts);
  const std::map<int32_t, Squares> squares = watch_inputs(spec, model, sequences);
  const std::vector<bool> tables = token_tables(spec.model);
  InputScales scales;
  for (const auto& graph : spec.model.graphs) {
    for (const auto& node : graph->nodes) {
      for (const std::vector<int32_t>& group : weights_by_input(*node)) {
        const auto seen = squares.find(group[0]);
        const bool table = std::any_of(group.begin(), group.end(), [&](int32_t id) { return tables[id]; });  // its rows are also read as they are
        const bool int8 = spec.model.weights[group[0]]->format == schema::Format::q8c;
        if (int8 && !table && seen != squares.end()) scale_group(spec, group, seen->second, scales);
      }
    }
  }
  report.calibration_texts = static_cast<uint32_t>(sequences.size());
  return scales;
}

}  // namespace heed::tools
