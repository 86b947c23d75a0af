// T5, v1.0 and v1.1: blocks that norm their input (root mean square, no shift), no biases, scores that are not scaled, and one table
// of relative positions for all layers of a side.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "convert/families/families.h"
#include "convert/families/tied.h"
#include "error.h"

namespace heed::tools {
namespace {

using schema::ElementType;
using schema::NodeT;
using schema::OpKind;

// Positions are relative, so nothing bounds a text; a session plans for `rows` where the caller does not say.
constexpr uint32_t kMostRows = 1u << 14;

struct Sizes {
  uint32_t vocabulary, features, encoder_layers, decoder_layers, heads, head_dim, hidden, buckets, farthest, rows;
  schema::ActivationKind activation;
  bool gated, tied;
  float epsilon;
};

class Builder {
 public:
  Builder(const Sizes& sizes, Checkpoint& checkpoint, Spec& spec, std::string where)
      : sizes_(sizes), checkpoint_(checkpoint), spec_(spec), where_(std::move(where)) {}

  EncoderDecoder build() {
    for (uint32_t i = 0; i < sizes_.decoder_layers; ++i) {
      states_.add(spec_, block("decoder", i) + "0", block("decoder", i) + "1", {sizes_.heads, sizes_.head_dim, 0});
    }
    encode();
    decode();
    spec_.model.metadata->max_sequence_rows = spec_.model.metadata->max_context = sizes_.rows;
    return {sizes_.vocabulary, sizes_.vocabulary, 0};
  }

 private:
  void encode() {
    GraphBuilder graph(spec_, "encode");
    uint16_t rows = embed(graph, kMostRows);
    const int32_t positions = position_table(graph, "encoder");
    for (uint32_t i = 0; i < sizes_.encoder_layers; ++i) {
      NodeT* node = attention(graph, block("encoder", i) + "0", "SelfAttention", rows);
      project_keys(graph, node);
      place(node, positions, true);
      rows = feed_forward(graph, block("encoder", i) + "1", graph.result(node));
    }
    rows = last_norm(graph, "encoder", 1, rows);
    for (uint32_t i = 0; i < sizes_.decoder_layers; ++i) {
      NodeT* node = graph.sink(OpKind::KeyValue, block("decoder", i) + "1.EncDecAttention", {rows});
      project_keys(graph, node);
      node->state = states_.source[i];
    }
    graph.output("rows", rows);
  }

  void decode() {
    GraphBuilder graph(spec_, "decode");
    uint16_t rows = embed(graph, 1);
    const int32_t positions = position_table(graph, "decoder");
    for (uint32_t i = 0; i < sizes_.decoder_layers; ++i) {
      const std::string name = block("decoder", i);
      NodeT* own = attention(graph, name + "0", "SelfAttention", rows);
      project_keys(graph, own);
      place(own, positions, false);
      own->state = states_.own[i];
      own->causal = true;
      NodeT* source = attention(graph, name + "1", "EncDecAttention", graph.result(own));
      source->state = states_.source[i];
      rows = feed_forward(graph, name + "2", graph.result(source));
    }
    // v1.0 multiplies what the shared table reads by 1 / sqrt(features); here the norm before it does.
    const double factor = sizes_.tied ? 1 / std::sqrt(static_cast<double>(sizes_.features)) : 1;
    NodeT* last = graph.node(OpKind::Linear, "lm_head", {last_norm(graph, "decoder", factor, rows)});
    last->weight = output_matrix(graph);
    graph.output("logits", graph.result(last));
  }

  static std::string block(const std::string& side, uint32_t i) { return side + ".block." + std::to_string(i) + ".layer."; }

  std::vector<std::string> table_names() const {
    std::vector<std::string> names = {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"};
    if (sizes_.tied) names.push_back("lm_head.weight");
    return names;
  }

  uint16_t embed(GraphBuilder& graph, uint32_t max_rows) {
    NodeT* node = graph.node(OpKind::Embed, "shared", {graph.input("tokens", ElementType::i32, max_rows, false)});
    if (table_ < 0) table_ = graph.matrix(tied_tensor(checkpoint_, table_names(), {sizes_.vocabulary, sizes_.features}, where_));
    node->token = table_;
    return graph.result(node);
  }

  int32_t output_matrix(GraphBuilder& graph) {
    if (sizes_.tied) return table_;
    return graph.matrix(checkpoint_.take("lm_head.weight", {sizes_.vocabulary, sizes_.features}, where_));
  }

  // Query, output and the norm before them; keys are the caller's to give.
  NodeT* attention(GraphBuilder& graph, const std::string& layer, const std::string& kind, uint16_t rows) {
    const uint32_t inner = sizes_.heads * sizes_.head_dim;
    NodeT* node = graph.node(OpKind::Attention, layer + "." + kind, {rows});
    node->query = matrix(graph, node->name + ".q", inner, sizes_.features);
    node->output = matrix(graph, node->name + ".o", sizes_.features, inner);
    node->heads = node->kv_heads = sizes_.heads;
    node->head_dim = node->value_dim = sizes_.head_dim;
    node->scale = 1;
    norm_input(graph, node, layer);
    return node;
  }

  void project_keys(GraphBuilder& graph, NodeT* node) {
    const uint32_t inner = sizes_.heads * sizes_.head_dim;
    node->key = matrix(graph, node->name + ".k", inner, sizes_.features);
    node->value = matrix(graph, node->name + ".v", inner, sizes_.features);
  }

  int32_t position_table(GraphBuilder& graph, const std::string& side) {
    const std::string name = block(side, 0) + "0.SelfAttention.relative_attention_bias.weight";
    return graph.matrix(checkpoint_.take(name, {sizes_.buckets, sizes_.heads}, where_ + " (\"relative_attention_num_buckets\")"));
  }

  void place(NodeT* node, int32_t table, bool two_sided) {
    node->position_kind = schema::PositionKind::t5;
    node->position_weight = table;
    node->position_two_sided = two_sided;
    node->position_max_distance = sizes_.farthest;
  }

  uint16_t feed_forward(GraphBuilder& graph, const std::string& layer, uint16_t rows) {
    NodeT* node = graph.node(OpKind::FeedForward, layer + ".DenseReluDense", {rows});
    if (sizes_.gated) node->gate = matrix(graph, node->name + ".wi_0", sizes_.hidden, sizes_.features);
    node->up = matrix(graph, node->name + (sizes_.gated ? ".wi_1" : ".wi"), sizes_.hidden, sizes_.features);
    node->down = matrix(graph, node->name + ".wo", sizes_.features, sizes_.hidden);
    node->activation = sizes_.activation;
    norm_input(graph, node, layer);
    return graph.result(node);
  }

  void norm_input(GraphBuilder& graph, NodeT* node, const std::string& layer) {
    node->norm_in = graph.norm(gain(layer + ".layer_norm.weight"));
    node->norm_kind = schema::NormKind::rms;
    node->epsilon = sizes_.epsilon;
    node->residual = true;
  }

  uint16_t last_norm(GraphBuilder& graph, const std::string& side, double factor, uint16_t rows) {
    const SourceTensor stored = gain(side + ".final_layer_norm.weight");
    std::vector<float> values = to_f32(stored);
    for (float& value : values) value = static_cast<float>(value * factor);
    NodeT* node = graph.node(OpKind::Norm, side + ".final_layer_norm", {rows});
    node->weight = graph.norm(computed_tensor(stored.name, stored.file, stored.shape, std::move(values)));
    node->norm_kind = schema::NormKind::rms;
    node->epsilon = sizes_.epsilon;
    return graph.result(node);
  }

  SourceTensor gain(const std::string& name) { return checkpoint_.take(name, {sizes_.features}, where_); }

  int32_t matrix(GraphBuilder& graph, const std::string& name, uint32_t rows, uint32_t cols) {
    return graph.matrix(checkpoint_.take(name + ".weight", {rows, cols}, where_));
  }

  const Sizes& sizes_;
  Checkpoint& checkpoint_;
  Spec& spec_;
  const std::string where_;
  DecoderStates states_;
  int32_t table_ = -1;
};

// "relu", "gated-gelu": of the latter the gelu is the one with tanh.
void read_feed_forward(Config& config, Sizes& sizes) {
  const std::string key = "feed_forward_proj";
  std::string name = config.text(key, "relu");
  sizes.gated = name.rfind("gated-", 0) == 0;
  if (sizes.gated) name = name.substr(6);
  if (sizes.gated && name == "gelu") name = "gelu_new";
  sizes.activation = activation_named(name, config.where(), key);
  // What transformers derives from it and writes, too.
  config.only("is_gated_act", {sizes.gated});
  config.only("dense_act_fn", {name});
}

}  // namespace

EncoderDecoder build_t5(Config& config, Checkpoint& checkpoint, Spec& spec) {
  config.only("is_encoder_decoder", {true});
  config.ignore({"dropout_rate", "classifier_dropout", "initializer_factor", "output_past"});
  Sizes sizes{};
  sizes.vocabulary = config.size("vocab_size");
  sizes.features = config.size("d_model");
  sizes.encoder_layers = config.size("num_layers");
  sizes.decoder_layers = config.size("num_decoder_layers", sizes.encoder_layers);
  sizes.heads = config.size("num_heads");
  sizes.head_dim = config.size("d_kv");
  sizes.hidden = config.size("d_ff");
  sizes.buckets = config.size("relative_attention_num_buckets", 32);
  sizes.farthest = config.size("relative_attention_max_distance", 128);
  sizes.rows = config.size("n_positions", 512);
  sizes.tied = config.flag("tie_word_embeddings", true);
  sizes.epsilon = static_cast<float>(config.number("layer_norm_epsilon", 1e-6));
  read_feed_forward(config, sizes);
  if (sizes.rows == 0 || sizes.rows > kMostRows) {
    throw Error(config.where() + ": \"n_positions\" is " + std::to_string(sizes.rows) + "; heed plans for 1 to " + std::to_string(kMostRows) + " rows");
  }
  if (sizes.encoder_layers == 0 || sizes.decoder_layers == 0) throw Error(config.where() + ": \"num_layers\" or \"num_decoder_layers\" is 0");
  return Builder(sizes, checkpoint, spec, config.where()).build();
}

}  // namespace heed::tools
