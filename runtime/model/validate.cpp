// Checks of a verified model file: weights inside the file, ids in range, values made once and before they are used.
// SPDX-License-Identifier: Apache-2.0
#include "model/validate.h"

#include <cstring>

#include "model/diagnostic.h"
#include "model/weight.h"
#include "model/xxh64.h"
#include "quant/panel.h"

namespace heed {
namespace {

using schema::Weight;

bool positive(float x) { return x > 0.0f && x <= 3.402823466e38f; }
bool finite(float x) { return x >= -3.402823466e38f && x <= 3.402823466e38f; }

heed_status check_form(const Weight& weight, heed_diagnostic* diagnostic) {
  const auto refused = [&](heed_status status, const char* what, uint64_t found) {
    return refuse(diagnostic, status, what, static_cast<int64_t>(found));
  };
  if (weight.format() > schema::Format::q8c) {
    return refused(HEED_UNSUPPORTED, "format", static_cast<uint64_t>(weight.format()));
  }
  if (weight.layout() > schema::Layout::MAX) {
    return refused(HEED_UNSUPPORTED, "layout", static_cast<uint64_t>(weight.layout()));
  }
  if (weight.rows() == 0 || weight.rows() > kMaxWeightSide) return refused(HEED_BAD_SHAPE, "rows", weight.rows());
  if (weight.cols() == 0 || weight.cols() > kMaxWeightSide) return refused(HEED_BAD_SHAPE, "cols", weight.cols());
  if (weight.format() == schema::Format::q8c && weight.cols() > kMaxInt8Cols) {
    return refuse(diagnostic, HEED_BAD_SHAPE, "cols of an int8 weight", weight.cols(), kMaxInt8Cols);
  }
  return HEED_OK;
}

// One part of a weight: its place in the file, and its share of the weight's checksum.
struct Part {
  const char* name;
  uint64_t at;
  uint64_t bytes;
};

heed_status check_part(const heed_model& model, const Part& part, heed_diagnostic* diagnostic) {
  if (part.bytes == 0) return HEED_OK;
  if (part.at % kAlignment != 0) {
    return refuse(diagnostic, HEED_BAD_WEIGHT, part.name, static_cast<int64_t>(part.at), kAlignment);
  }
  if (part.at > model.weight_bytes || part.bytes > model.weight_bytes - part.at) {
    return refuse(diagnostic, HEED_BAD_WEIGHT, part.name, static_cast<int64_t>(part.at),
                  static_cast<int64_t>(model.weight_bytes));
  }
  return HEED_OK;
}

heed_status check_positive(const char* what, const float* scales, uint64_t count, heed_diagnostic* diagnostic) {
  for (uint64_t i = 0; scales != nullptr && i < count; ++i) {
    if (!positive(scales[i])) {
      return refuse(diagnostic, HEED_BAD_WEIGHT, what, static_cast<int64_t>(i));
    }
  }
  return HEED_OK;
}

// Numbers that would spoil every result, or overflow an integer sum, however good the rest is.
heed_status check_numbers(const heed_model& model, uint32_t id, heed_diagnostic* diagnostic) {
  const WeightView view = weight_view(model, static_cast<int32_t>(id));
  if (heed_status s = check_positive("scale", view.scales, view.rows, diagnostic)) return s;
  if (heed_status s = check_positive("input scale", view.input_scale, view.cols, diagnostic)) return s;
  const int64_t bound = int64_t{127} * view.cols;
  for (uint32_t i = 0; view.sums != nullptr && i < view.rows; ++i) {
    if (view.sums[i] > bound || view.sums[i] < -bound) {
      return refuse(diagnostic, HEED_BAD_WEIGHT, "sum", view.sums[i], bound);
    }
  }
  return HEED_OK;
}

heed_status check_weight(const heed_model& model, uint32_t id, bool contents, heed_diagnostic* diagnostic) {
  const Weight& weight = *root(model).weights()->Get(id);
  if (heed_status s = check_form(weight, diagnostic)) return s;
  const WeightParts bytes = weight_parts(weight);
  if (weight.data_bytes() != bytes.data) {
    return refuse(diagnostic, HEED_BAD_WEIGHT, "data_bytes", static_cast<int64_t>(weight.data_bytes()),
                  static_cast<int64_t>(bytes.data));
  }
  const Part parts[] = {{"data", weight.data(), bytes.data},
                        {"bias", weight.bias(), bytes.bias},
                        {"scales", weight.scales(), bytes.scales},
                        {"sums", weight.sums(), bytes.sums},
                        {"input_scale", weight.input_scale(), bytes.input_scale}};
  for (const Part& part : parts) {
    if (heed_status s = check_part(model, part, diagnostic)) return s;
  }
  if (heed_status s = check_numbers(model, id, diagnostic)) return s;
  if (!contents) return HEED_OK;
  Xxh64 hash;
  for (const Part& part : parts) {
    if (part.bytes > 0) hash.update(model.weights + part.at, part.bytes);
  }
  if (hash.digest() != weight.checksum()) {
    diagnostic->byte_offset =
        static_cast<int64_t>(model.weights + weight.data() - static_cast<const uint8_t*>(model.bytes));
    return refuse(diagnostic, HEED_CORRUPT, "checksum of a weight");
  }
  return HEED_OK;
}

// One bit for each value of a graph: whether it has been made.
class Made {
 public:
  bool test(uint16_t value) const { return (bits_[value / 32] >> value % 32 & 1) != 0; }
  void set(uint16_t value) { bits_[value / 32] |= 1u << value % 32; }

 private:
  uint32_t bits_[kMaxValues / 32] = {};
};

using Ids = flatbuffers::Vector<uint16_t>;

heed_status refuse_value(heed_diagnostic* diagnostic, const char* what, uint16_t value) {
  diagnostic->value = value;
  return refuse(diagnostic, HEED_BAD_GRAPH, what, value);
}

heed_status make_value(Made* made, uint16_t value, uint16_t values, heed_diagnostic* diagnostic) {
  if (value >= values) return refuse_value(diagnostic, "value id out of range", value);
  if (made->test(value)) return refuse_value(diagnostic, "value made twice", value);
  made->set(value);
  return HEED_OK;
}

heed_status use_value(const Made& made, uint16_t value, uint16_t values, heed_diagnostic* diagnostic) {
  if (value >= values) return refuse_value(diagnostic, "value id out of range", value);
  if (!made.test(value)) return refuse_value(diagnostic, "value used before it is made", value);
  return HEED_OK;
}

heed_status check_input(const schema::GraphInput& input, heed_diagnostic* diagnostic) {
  if (input.type() > schema::ElementType::MAX) {
    return refuse(diagnostic, HEED_UNSUPPORTED, "type of an input", static_cast<int64_t>(input.type()));
  }
  if (input.axis() >= HEED_MAX_PORTS) {
    return refuse(diagnostic, HEED_BAD_GRAPH, "axis", input.axis(), HEED_MAX_PORTS - 1);
  }
  if (input.features() == 0 || input.features() > kMaxFeatures) {
    return refuse(diagnostic, HEED_BAD_SHAPE, "features of an input", input.features(), kMaxFeatures);
  }
  if (input.type() == schema::ElementType::i32 && input.features() != 1) {
    return refuse(diagnostic, HEED_BAD_SHAPE, "features of an input of ids", input.features(), 1);
  }
  if (input.max_rows() == 0 || input.max_rows() > kMaxRows) {
    return refuse(diagnostic, HEED_BAD_SHAPE, "max_rows", input.max_rows(), kMaxRows);
  }
  return HEED_OK;
}

// Enums whose numbers this build does not know, and numbers that no op could use.
heed_status check_attributes(const schema::Node& node, heed_diagnostic* diagnostic) {
  const auto known = [](auto value) { return value <= decltype(value)::MAX; };
  const struct {
    const char* name;
    bool good;
  } enums[] = {{"norm_kind", known(node.norm_kind())},         {"activation", known(node.activation())},
               {"pool", known(node.pool())},                   {"score", known(node.score())},
               {"position_kind", known(node.position_kind())}, {"weighting", known(node.weighting())},
               {"cell", known(node.cell())},                   {"direction", known(node.direction())}};
  for (const auto& item : enums) {
    if (!item.good) return refuse(diagnostic, HEED_UNSUPPORTED, item.name);
  }
  if (!finite(node.scale())) return refuse(diagnostic, HEED_BAD_GRAPH, "scale");
  if (!finite(node.epsilon()) || node.epsilon() < 0) return refuse(diagnostic, HEED_BAD_GRAPH, "epsilon");
  if (!finite(node.soft_cap()) || node.soft_cap() < 0) return refuse(diagnostic, HEED_BAD_GRAPH, "soft_cap");
  return HEED_OK;
}

heed_status check_weight_ids(const schema::Node& node, uint32_t weights, heed_diagnostic* diagnostic) {
  const int32_t ids[] = {node.weight(),      node.query(),     node.key(),         node.value(),    node.output(),
                         node.up(),          node.gate(),      node.down(),        node.token(),    node.position(),
                         node.segment(),     node.norm_in(),   node.norm_branch(), node.norm_out(), node.norm_query(),
                         node.norm_key(),    node.key_bias(),  node.value_bias(),  node.sink(),
                         node.position_weight(), node.score_weight(), node.recurrent(), node.backward_weight(),
                         node.backward_recurrent()};
  for (int32_t id : ids) {
    if (id < -1 || id >= static_cast<int64_t>(weights)) {
      return refuse(diagnostic, HEED_BAD_GRAPH, "weight id out of range", id, weights);
    }
  }
  return HEED_OK;
}

heed_status check_node(const schema::Model& model, const schema::Node& node, uint16_t values, Made* made,
                       heed_diagnostic* diagnostic) {
  const Ids& inputs = *node.inputs();
  const Ids& outputs = *node.outputs();
  if (inputs.size() > HEED_MAX_PORTS) {
    return refuse(diagnostic, HEED_BAD_GRAPH, "number of inputs", inputs.size(), HEED_MAX_PORTS);
  }
  if (outputs.size() > HEED_MAX_PORTS) {
    return refuse(diagnostic, HEED_BAD_GRAPH, "number of outputs", outputs.size(), HEED_MAX_PORTS);
  }
  for (uint16_t value : inputs) {
    if (heed_status s = use_value(*made, value, values, diagnostic)) return s;
  }
  for (uint16_t value : outputs) {
    if (heed_status s = make_value(made, value, values, diagnostic)) return s;
  }
  if (heed_status s = check_weight_ids(node, model.weights()->size(), diagnostic)) return s;
  const int64_t states = model.states() == nullptr ? 0 : model.states()->size();
  if (node.state() < -1 || node.state() >= states) {
    return refuse(diagnostic, HEED_BAD_GRAPH, "state id out of range", node.state(), states);
  }
  return check_attributes(node, diagnostic);
}

// Whether item `index` has a name that an earlier one has too.
template <class T>
bool name_taken(const flatbuffers::Vector<flatbuffers::Offset<T>>& items, uint32_t index) {
  for (uint32_t i = 0; i < index; ++i) {
    const flatbuffers::String& a = *items.Get(i)->name();
    const flatbuffers::String& b = *items.Get(index)->name();
    if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0) return true;
  }
  return false;
}

heed_status check_ports(const schema::Graph& graph, Made* made, heed_diagnostic* diagnostic) {
  const auto& inputs = *graph.inputs();
  if (inputs.size() == 0 || inputs.size() > HEED_MAX_PORTS) {
    return refuse(diagnostic, HEED_BAD_GRAPH, "number of graph inputs", inputs.size(), HEED_MAX_PORTS);
  }
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    diagnostic->input = static_cast<int32_t>(i);
    if (name_taken(inputs, i)) return refuse(diagnostic, HEED_BAD_GRAPH, "two inputs with one name");
    if (heed_status s = check_input(*inputs.Get(i), diagnostic)) return s;
    if (heed_status s = make_value(made, inputs.Get(i)->value(), graph.values(), diagnostic)) return s;
  }
  diagnostic->input = -1;
  return HEED_OK;
}

heed_status check_graph(const schema::Model& model, const schema::Graph& graph, heed_diagnostic* diagnostic) {
  if (graph.values() > kMaxValues) {
    return refuse(diagnostic, HEED_TOO_LARGE, "values of a graph", graph.values(), kMaxValues);
  }
  if (graph.nodes()->size() > kMaxNodes) {
    return refuse(diagnostic, HEED_TOO_LARGE, "nodes of a graph", graph.nodes()->size(), kMaxNodes);
  }
  Made made;
  if (heed_status s = check_ports(graph, &made, diagnostic)) return s;
  for (uint32_t i = 0; i < graph.nodes()->size(); ++i) {
    diagnostic->node = static_cast<int32_t>(i);
    if (heed_status s = check_node(model, *graph.nodes()->Get(i), graph.values(), &made, diagnostic)) return s;
  }
  diagnostic->node = -1;
  const auto& outputs = *graph.outputs();
  if (outputs.size() == 0 || outputs.size() > HEED_MAX_PORTS) {
    return refuse(diagnostic, HEED_BAD_GRAPH, "number of graph outputs", outputs.size(), HEED_MAX_PORTS);
  }
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    if (name_taken(outputs, i)) return refuse(diagnostic, HEED_BAD_GRAPH, "two outputs with one name");
    if (heed_status s = use_value(made, outputs.Get(i)->value(), graph.values(), diagnostic)) return s;
  }
  return HEED_OK;
}

bool ids_below(const flatbuffers::Vector<uint32_t>* ids, uint32_t bound) {
  for (uint32_t i = 0; ids != nullptr && i < ids->size(); ++i) {
    if (ids->Get(i) >= bound) return false;
  }
  return true;
}

bool pieces_fit(const schema::Tokenizer& tokenizer) {
  const auto* bytes = tokenizer.piece_bytes();
  const auto* ends = tokenizer.piece_ends();
  if (bytes == nullptr || ends == nullptr || ends->size() != tokenizer.vocabulary()) return false;
  uint32_t last = 0;
  for (uint32_t end : *ends) {
    if (end < last) return false;
    last = end;
  }
  return last == bytes->size();
}

}  // namespace

heed_status validate_weights(const heed_model& model, bool contents, heed_diagnostic* diagnostic) {
  for (uint32_t i = 0; i < root(model).weights()->size(); ++i) {
    diagnostic->weight = static_cast<int32_t>(i);
    if (heed_status s = check_weight(model, i, contents, diagnostic)) return s;
  }
  diagnostic->weight = -1;
  return HEED_OK;
}

heed_status validate_graphs(const heed_model& model, heed_diagnostic* diagnostic) {
  const auto& graphs = *root(model).graphs();
  if (graphs.size() == 0 || graphs.size() > HEED_MAX_GRAPHS) {
    return refuse(diagnostic, HEED_BAD_GRAPH, "number of graphs", graphs.size(), HEED_MAX_GRAPHS);
  }
  for (uint32_t i = 0; i < graphs.size(); ++i) {
    diagnostic->graph = static_cast<int32_t>(i);
    if (name_taken(graphs, i)) return refuse(diagnostic, HEED_BAD_GRAPH, "two graphs with one name");
    if (heed_status s = check_graph(root(model), *graphs.Get(i), diagnostic)) return s;
  }
  diagnostic->graph = -1;
  return HEED_OK;
}

namespace {

// What subwords have besides: pieces of single bytes, all or none; a hash table of merges; a score for each piece.
bool subwords_fit(const schema::Tokenizer& tokenizer) {
  const uint32_t bytes = tokenizer.byte_pieces() == nullptr ? 0 : tokenizer.byte_pieces()->size();
  if ((bytes != 0 && bytes != 256) || !ids_below(tokenizer.byte_pieces(), tokenizer.vocabulary())) return false;
  const uint32_t slots = tokenizer.merge_slots() == nullptr ? 0 : tokenizer.merge_slots()->size();
  const bool merges = tokenizer.merges() != nullptr && tokenizer.merges()->size() > 0;
  if (merges && (slots == 0 || (slots & (slots - 1)) != 0)) return false;
  if (tokenizer.kind() != schema::TokenizerKind::unigram) return true;
  return tokenizer.scores() != nullptr && tokenizer.scores()->size() >= tokenizer.vocabulary();
}

// Where every text can be written in bytes, no piece is the unknown one.
bool unknown_fits(const schema::Tokenizer& tokenizer) {
  const bool bytes = tokenizer.byte_pieces() != nullptr && tokenizer.byte_pieces()->size() == 256;
  return tokenizer.unknown() < tokenizer.vocabulary() || (bytes && tokenizer.unknown() == UINT32_MAX);
}

heed_status validate_table(const schema::Tokenizer* tokenizer, heed_diagnostic* diagnostic) {
  if (tokenizer == nullptr || tokenizer->kind() == schema::TokenizerKind::none) return HEED_OK;
  if (tokenizer->kind() > schema::TokenizerKind::MAX) {
    return refuse(diagnostic, HEED_UNSUPPORTED, "tokenizer kind", static_cast<int64_t>(tokenizer->kind()));
  }
  if (tokenizer->apostrophe() > schema::ApostropheKind::MAX) {
    return refuse(diagnostic, HEED_UNSUPPORTED, "apostrophe of the tokenizer", static_cast<int64_t>(tokenizer->apostrophe()));
  }
  const uint32_t vocabulary = tokenizer->vocabulary();
  if (!pieces_fit(*tokenizer)) return refuse(diagnostic, HEED_CORRUPT, "pieces of the tokenizer");
  const uint32_t slots = tokenizer->slots() == nullptr ? 0 : tokenizer->slots()->size();
  if (slots == 0 || (slots & (slots - 1)) != 0) return refuse(diagnostic, HEED_CORRUPT, "slots of the tokenizer", slots);
  if (!subwords_fit(*tokenizer)) return refuse(diagnostic, HEED_CORRUPT, "subwords of the tokenizer");
  bool fits = unknown_fits(*tokenizer) && ids_below(tokenizer->prefix(), vocabulary) &&
              ids_below(tokenizer->suffix(), vocabulary);
  for (uint32_t i = 0; tokenizer->added() != nullptr && i < tokenizer->added()->size(); ++i) {
    fits = fits && tokenizer->added()->Get(i)->id() < vocabulary;
  }
  if (!fits) return refuse(diagnostic, HEED_CORRUPT, "id outside the tokenizer's vocabulary");
  return HEED_OK;
}

}  // namespace

heed_status validate_tokenizers(const heed_model& model, heed_diagnostic* diagnostic) {
  if (heed_status s = validate_table(root(model).tokenizer(), diagnostic)) return s;
  return validate_table(root(model).target_tokenizer(), diagnostic);
}

}  // namespace heed
