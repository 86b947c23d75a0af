// Builds the schema's graph tables.
// SPDX-License-Identifier: Apache-2.0
#include "convert/graph_builder.h"

namespace heed::tools {

GraphBuilder::GraphBuilder(Spec& spec, const std::string& name) : spec_(spec) {
  spec.model.graphs.push_back(std::make_unique<schema::GraphT>());
  graph_ = spec.model.graphs.back().get();
  graph_->name = name;
}

uint16_t GraphBuilder::input(const std::string& name, schema::ElementType type, uint32_t max_rows, bool optional) {
  auto input = std::make_unique<schema::GraphInputT>();
  input->name = name;
  input->value = value();
  input->type = type;
  input->max_rows = max_rows;
  input->optional = optional;
  graph_->inputs.push_back(std::move(input));
  return graph_->inputs.back()->value;
}

void GraphBuilder::output(const std::string& name, uint16_t value) {
  auto output = std::make_unique<schema::GraphOutputT>();
  output->name = name;
  output->value = value;
  graph_->outputs.push_back(std::move(output));
}

schema::NodeT* GraphBuilder::node(schema::OpKind op, const std::string& name, const std::vector<uint16_t>& inputs) {
  schema::NodeT* node = sink(op, name, inputs);
  node->outputs = {value()};
  return node;
}

schema::NodeT* GraphBuilder::sink(schema::OpKind op, const std::string& name, const std::vector<uint16_t>& inputs) {
  graph_->nodes.push_back(std::make_unique<schema::NodeT>());
  schema::NodeT* node = graph_->nodes.back().get();
  node->op = op;
  node->name = name;
  node->inputs = inputs;
  return node;
}

int32_t GraphBuilder::matrix(SourceTensor values, std::optional<SourceTensor> bias) {
  const uint64_t rows = values.shape.at(0);
  const uint64_t cols = values.shape.at(1);
  return weight(std::move(values), std::move(bias), rows, cols);
}

int32_t GraphBuilder::norm(SourceTensor gain, std::optional<SourceTensor> shift) {
  const uint64_t cols = gain.shape.at(0);
  return weight(std::move(gain), std::move(shift), 1, cols);
}

int32_t GraphBuilder::weight(SourceTensor values, std::optional<SourceTensor> bias, uint64_t rows, uint64_t cols) {
  auto table = std::make_unique<schema::WeightT>();
  table->name = values.name;
  table->rows = static_cast<uint32_t>(rows);
  table->cols = static_cast<uint32_t>(cols);
  table->has_bias = bias.has_value();
  if (bias) table->bias_name = bias->name;
  spec_.model.weights.push_back(std::move(table));
  spec_.weights.push_back({std::move(values), std::move(bias), std::nullopt});
  return static_cast<int32_t>(spec_.weights.size() - 1);
}

namespace {

int32_t add_state(Spec& spec, const std::string& name, schema::StateKind kind, const KeptKeys& keys) {
  auto state = std::make_unique<schema::StateT>();
  state->name = name;
  state->kind = kind;
  state->heads = keys.heads;
  state->features = state->value_features = keys.head_dim;
  state->rows = keys.rows;
  spec.model.states.push_back(std::move(state));
  return static_cast<int32_t>(spec.model.states.size() - 1);
}

}  // namespace

void DecoderStates::add(Spec& spec, const std::string& own_name, const std::string& source_name, const KeptKeys& keys) {
  own.push_back(add_state(spec, own_name, schema::StateKind::kv_append, keys));
  source.push_back(add_state(spec, source_name, schema::StateKind::kv_fixed, keys));
}

}  // namespace heed::tools
