// Attention weights as a tap brings them, and as the layers of an Attention.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <mutex>

#include "attention/maps.h"
#include "cli/session.h"

namespace heed::tools {

// The nodes named as layers, without weights.
std::vector<AttentionLayer> layers_of(const schema::Graph& graph, const std::vector<uint32_t>& nodes);

class Tapped {
 public:
  // A heed_tap whose context is a Tapped. Workers may call it at the same time.
  static void take(void* context, uint32_t node, uint32_t sequence, uint32_t head, uint32_t query, uint32_t first_key, uint32_t count, const float* weights);

  // Gives each layer of `attention` the weights of its node. Labels that are not as many as there are rows or columns become
  // numbers. Throws Error, led by the model's name, if layers differ in rows or keys.
  void fill(const std::vector<uint32_t>& nodes, Attention* attention) const;

 private:
  using Rows = std::vector<std::vector<float>>;  // [rows][keys]
  const Rows& rows(uint32_t node, uint32_t head) const;

  std::mutex mutex_;
  std::map<std::pair<uint32_t, uint32_t>, Rows> heads_;  // by node and head
};

}  // namespace heed::tools
