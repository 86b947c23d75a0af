// SPDX-License-Identifier: Apache-2.0
#include "cli/shapes.h"

#include <algorithm>
#include <numeric>

namespace heed::tools {
namespace {

// Rows times columns of a weight, 0 where there is none.
uint64_t elements(const Model& model, int32_t id) {
  if (id < 0) return 0;
  const schema::Weight& weight = *model.tables().weights()->Get(static_cast<uint32_t>(id));
  return uint64_t{weight.rows()} * weight.cols();
}

uint64_t multiply_adds(const Model& model, const schema::Node& node, const GraphFacts& facts, const heed_limits& limits) {
  const auto rows_of = [&](uint32_t port) -> uint64_t {
    const ValueRecord& value = facts.values[node.inputs()->Get(port)];
    const uint64_t rows = uint64_t{value.rows} * limits.max_sequences;
    return value.ragged ? std::min<uint64_t>(rows, limits.max_rows) : rows;
  };
  switch (node.op()) {
    case schema::OpKind::Linear:
      return rows_of(0) * elements(model, node.weight());
    case schema::OpKind::FeedForward:
      return rows_of(0) * (elements(model, node.up()) + elements(model, node.gate()) + elements(model, node.down()));
    case schema::OpKind::KeyValue:
      return rows_of(0) * (elements(model, node.key()) + elements(model, node.value()));
    case schema::OpKind::Recurrent:
      return rows_of(0) * (elements(model, node.weight()) + elements(model, node.recurrent()) + elements(model, node.backward_weight()) +
                           elements(model, node.backward_recurrent()));
    case schema::OpKind::Attention: {
      const uint64_t rows = rows_of(0);
      const uint64_t made = rows_of(node.inputs()->size() > 1 ? 1 : 0);  // keys that this pass makes
      const uint64_t keys = node.state() < 0 ? made : state_form(model.handle(), node.state(), limits).rows;
      const uint64_t pairs = node.causal() && node.state() < 0 ? rows * (rows + 1) / 2 : rows * keys;
      const uint64_t value_dim = node.value_dim() ? node.value_dim() : node.head_dim();
      return rows * (elements(model, node.query()) + elements(model, node.output())) +
             made * (elements(model, node.key()) + elements(model, node.value())) + pairs * node.heads() * (node.head_dim() + value_dim);
    }
    default:
      return 0;
  }
}

}  // namespace

GraphFacts graph_facts(const Model& model, uint32_t graph, const heed_limits& limits) {
  const schema::Graph& tables = *model.tables().graphs()->Get(graph);
  GraphFacts facts;
  facts.values.resize(tables.values(), {kNowhere, 0, 0, 0, 0, 0});
  facts.nodes.resize(tables.nodes()->size());
  heed_diagnostic diagnostic = empty_diagnostic();
  const heed_status status = lay_out(model.handle(), graph, limits, {facts.values.data(), facts.nodes.data()}, &facts.room, &diagnostic);
  check(status, diagnostic, model.path(), &model.handle());
  for (const schema::Node* node : *tables.nodes()) facts.multiply_adds.push_back(multiply_adds(model, *node, facts, limits));
  return facts;
}

uint64_t total_multiply_adds(const Model& model, uint32_t graph, const heed_limits& limits) {
  const std::vector<uint64_t> parts = graph_facts(model, graph, limits).multiply_adds;
  return std::accumulate(parts.begin(), parts.end(), uint64_t{0});
}

}  // namespace heed::tools
