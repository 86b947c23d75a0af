// SPDX-License-Identifier: Apache-2.0
#include "attention/tapped.h"

#include <algorithm>

#include "cli/print.h"
#include "error.h"

namespace heed::tools {
namespace {

void number_unless(size_t count, std::vector<std::string>* labels) {
  if (labels->size() == count) return;
  labels->clear();
  for (size_t i = 0; i < count; ++i) labels->push_back(std::to_string(i));
}

}  // namespace

std::vector<AttentionLayer> layers_of(const schema::Graph& graph, const std::vector<uint32_t>& nodes) {
  std::vector<AttentionLayer> layers;
  for (const uint32_t place : nodes) {
    const schema::Node& node = *graph.nodes()->Get(place);
    layers.push_back({node.name() ? printable(node.name()->string_view()) : "", node.heads(), {}});
  }
  return layers;
}

void Tapped::take(void* context, uint32_t node, uint32_t, uint32_t head, uint32_t query, uint32_t first_key, uint32_t count, const float* weights) {
  Tapped& self = *static_cast<Tapped*>(context);
  const std::lock_guard lock(self.mutex_);
  Rows& rows = self.heads_[{node, head}];
  rows.resize(std::max<size_t>(rows.size(), query + 1));
  rows[query].resize(std::max<size_t>(rows[query].size(), first_key + count));
  std::copy_n(weights, count, rows[query].begin() + first_key);
}

const Tapped::Rows& Tapped::rows(uint32_t node, uint32_t head) const {
  static const Rows kNone;
  const auto found = heads_.find({node, head});
  return found == heads_.end() ? kNone : found->second;
}

void Tapped::fill(const std::vector<uint32_t>& nodes, Attention* attention) const {
  const Rows& first = rows(nodes.at(0), 0);
  const size_t columns = first.empty() ? 0 : first[0].size();
  number_unless(first.size(), &attention->rows);
  number_unless(columns, &attention->columns);
  for (size_t i = 0; i < nodes.size(); ++i) {
    AttentionLayer& layer = attention->layers.at(i);
    const std::string who = attention->model + ": layer " + std::to_string(i) + (layer.name.empty() ? "" : " \"" + layer.name + "\"");
    for (uint32_t head = 0; head < layer.heads; ++head) {
      const Rows& found = rows(nodes[i], head);
      if (found.size() != first.size()) {
        throw Error(who + " has " + std::to_string(found.size()) + " rows where the first layer has " + std::to_string(first.size()) + "; layers of one shape can be shown");
      }
      for (const std::vector<float>& row : found) {
        if (row.size() != columns) {
          throw Error(who + " has a row of " + std::to_string(row.size()) + " keys where the first has " + std::to_string(columns) + "; layers of one shape can be shown");
        }
        layer.weights.insert(layer.weights.end(), row.begin(), row.end());
      }
    }
  }
}

}  // namespace heed::tools
