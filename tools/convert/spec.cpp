// What the nodes of a graph say about its weights.
// SPDX-License-Identifier: Apache-2.0
#include "convert/spec.h"

#include "error.h"

namespace heed::tools {
namespace {

using schema::NodeT;
using schema::OpKind;

struct Use {
  int32_t id;
  Role role;
};

std::vector<Use> weight_uses(const NodeT& node) {
  const Role own = node.op == OpKind::Norm ? Role::kVector : Role::kMatrix;
  return {{node.weight, own},
          {node.query, Role::kMatrix},
          {node.key, Role::kMatrix},
          {node.value, Role::kMatrix},
          {node.output, Role::kMatrix},
          {node.up, Role::kMatrix},
          {node.gate, Role::kMatrix},
          {node.down, Role::kMatrix},
          {node.token, Role::kTable},
          {node.position, Role::kTable},
          {node.segment, Role::kTable},
          {node.norm_in, Role::kVector},
          {node.norm_branch, Role::kVector},
          {node.norm_out, Role::kVector},
          {node.norm_query, Role::kVector},
          {node.norm_key, Role::kVector},
          {node.key_bias, Role::kVector},
          {node.value_bias, Role::kVector},
          {node.sink, Role::kVector},
          {node.position_weight, Role::kTable},
          {node.score_weight, Role::kVector},
          {node.recurrent, Role::kMatrix},
          {node.backward_weight, Role::kMatrix},
          {node.backward_recurrent, Role::kMatrix}};
}

}  // namespace

std::vector<bool> token_tables(const schema::ModelT& model) {
  std::vector<bool> tables(model.weights.size());
  for (const auto& graph : model.graphs) {
    for (const auto& node : graph->nodes) {
      if (node->op == OpKind::Embed && node->token >= 0 && static_cast<size_t>(node->token) < tables.size()) tables[node->token] = true;
    }
  }
  return tables;
}

std::vector<Role> weight_roles(const Spec& spec) {
  const schema::ModelT& model = spec.model;
  const std::string where = spec.origin + ": ";
  std::vector<Role> roles(model.weights.size(), Role::kUnused);
  const std::vector<bool> tokens = token_tables(model);
  for (const auto& graph : model.graphs) {
    for (const auto& node : graph->nodes) {
      for (const auto& [id, role] : weight_uses(*node)) {
        if (id == -1) continue;
        if (id < 0 || static_cast<size_t>(id) >= roles.size()) {
          throw Error(where + "graph '" + graph->name + "', node '" + node->name + "': weight id " + std::to_string(id) +
                      " is not one of the " + std::to_string(roles.size()) + " weights");
        }
        const Role before = roles[id];
        roles[id] = role;
        if (before == Role::kUnused || before == role) continue;
        const bool shared = tokens[id] && before != Role::kVector && role != Role::kVector;
        roles[id] = Role::kMatrix;
        if (!shared) {
          throw Error(where + "weight '" + model.weights[id]->name +
                      "' is used in two ways (as a matrix, table or vector); give each use a weight of its own");
        }
      }
    }
  }
  for (size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] != Role::kUnused) continue;
    throw Error(where + "weight '" + model.weights[i]->name + "' is used by no node; use it or remove it");
  }
  return roles;
}

std::vector<std::vector<int32_t>> weights_by_input(const NodeT& node) {
  std::vector<std::vector<int32_t>> groups;
  if (node.op == OpKind::Attention && node.inputs.size() == 1) {
    groups = {{node.query, node.key, node.value}, {node.output}};
  }
  if (node.op == OpKind::Attention && node.inputs.size() == 2) {
    groups = {{node.query}, {node.key, node.value}, {node.output}};
  }
  if (node.op == OpKind::FeedForward) groups = {{node.up, node.gate}, {node.down}};
  if (node.op == OpKind::Linear) groups = {{node.weight}};
  if (node.op == OpKind::KeyValue) groups = {{node.key, node.value}};
  if (node.op == OpKind::Recurrent) groups = {{node.weight, node.backward_weight}, {node.recurrent}, {node.backward_recurrent}};
  for (auto& group : groups) std::erase(group, -1);
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

}  // namespace heed::tools
