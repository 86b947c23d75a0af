// What a front end makes of a foreign checkpoint: the schema's own tables, and where each weight's numbers are.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/source_tensor.h"
#include "model_generated.h"

namespace heed::tools {

// Where the numbers of one weight come from.
struct SpecWeight {
  SourceTensor values;
  std::optional<SourceTensor> bias;      // of a norm: its shift
  std::optional<schema::Format> format;  // asked for by the source itself; else the user's choice
};

struct Spec {
  std::string origin;               // the file that says what the graph is, for messages
  schema::ModelT model;             // graphs, states, tokenizer, metadata; weights with names, rows and cols
  std::vector<SpecWeight> weights;  // one for each of model.weights
  std::vector<std::string> notes;   // what was left out or assumed, for the report
  std::vector<std::shared_ptr<const void>> keep_alive;  // whatever the source tensors point into
};

// What a weight is for, which decides how it may be stored.
enum class Role : uint8_t { kUnused, kMatrix, kTable, kVector };

// The role of each weight, by the nodes that name it; a table of tokens that is a matrix, too, is a matrix. Throws Error for an id out
// of range, a weight with two other roles and one that no node names.
std::vector<Role> weight_roles(const Spec& spec);

// Which weights are tables of tokens.
std::vector<bool> token_tables(const schema::ModelT& model);

// Ids of weights that multiply the same input, in one node: {query, key, value}, {gate, up}, {down}, ...
std::vector<std::vector<int32_t>> weights_by_input(const schema::NodeT& node);

}  // namespace heed::tools
