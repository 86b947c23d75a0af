// Shapes, places in the arena and work of a graph's nodes, from the planner itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "cli/session.h"
#include "session/layout.h"

namespace heed::tools {

struct GraphFacts {
  GraphRoom room;
  std::vector<ValueRecord> values;      // by value id
  std::vector<NodeRecord> nodes;        // by place
  std::vector<uint64_t> multiply_adds;  // of each node's linear layers and attention, for limits.max_rows rows, or as many as the inputs take
};

GraphFacts graph_facts(const Model& model, uint32_t graph, const heed_limits& limits);
// Of all nodes of a graph together.
uint64_t total_multiply_adds(const Model& model, uint32_t graph, const heed_limits& limits);

}  // namespace heed::tools
