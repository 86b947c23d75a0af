// Puts a graph together, one node after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "convert/checkpoint.h"
#include "convert/spec.h"

namespace heed::tools {

class GraphBuilder {
 public:
  GraphBuilder(Spec& spec, const std::string& name);  // starts a graph

  // Each returns the id of the value it makes.
  uint16_t input(const std::string& name, schema::ElementType type, uint32_t max_rows, bool optional);
  uint16_t value() { return graph_->values++; }
  void output(const std::string& name, uint16_t value);
  // Appends a node with one output. The pointer stays valid; its attributes are for the caller to set.
  schema::NodeT* node(schema::OpKind op, const std::string& name, const std::vector<uint16_t>& inputs);
  // The same without an output.
  schema::NodeT* sink(schema::OpKind op, const std::string& name, const std::vector<uint16_t>& inputs);
  uint16_t result(const schema::NodeT* node) const { return node->outputs[0]; }

  // Adds a weight and returns its id: a matrix [rows, cols] (or a table) with an optional bias [rows]; a norm's gain
  // and shift [cols].
  int32_t matrix(SourceTensor values, std::optional<SourceTensor> bias = std::nullopt);
  int32_t norm(SourceTensor gain, std::optional<SourceTensor> shift = std::nullopt);

 private:
  int32_t weight(SourceTensor values, std::optional<SourceTensor> bias, uint64_t rows, uint64_t cols);

  Spec& spec_;
  schema::GraphT* graph_;
};

// What a session keeps of a decoder layer's keys and values: at most `rows` of a sequence (0: as the session's limits say).
struct KeptKeys {
  uint32_t heads;
  uint32_t head_dim;
  uint32_t rows;
};
// The states of each decoder layer: keys of the output so far, which grow, and keys of the source.
struct DecoderStates {
  std::vector<int32_t> own, source;
  // Adds those of the next layer.
  void add(Spec& spec, const std::string& own_name, const std::string& source_name, const KeptKeys& keys);
};

}  // namespace heed::tools
