// BART and MarianMT: an encoder and a decoder whose blocks are normalized after each residual.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "convert/families/families.h"
#include "convert/families/tied.h"
#include "error.h"

namespace heed::tools {
namespace {

using schema::ElementType;
using schema::OpKind;

constexpr float kEpsilon = 1e-5f;        // of every norm, as PyTorch's default
constexpr uint32_t kBartOffset = 2;      // of a place's row in BART's position tables

// Of the encoder or the decoder.
struct Side {
  std::string prefix;  // "model.encoder."
  uint32_t vocabulary, layers, heads, hidden;
};

struct Sizes {
  Side encoder, decoder;
  uint32_t positions, features;
  schema::ActivationKind activation;
  bool scale_embedding, sinusoids, norm_embedding, shares_tables, tied;
};

// sin of the even columns' angles, then cos of the odd ones', as Marian lays them out: [positions, features].
std::vector<float> sinusoids(uint32_t positions, uint32_t features) {
  std::vector<float> table(uint64_t{positions} * features);
  const uint32_t half = (features + 1) / 2;
  for (uint32_t place = 0; place < positions; ++place) {
    for (uint32_t column = 0; column < features; ++column) {
      const uint32_t pair = column < half ? column : column - half;
      const double angle = place / std::pow(10000.0, 2.0 * pair / features);
      table[uint64_t{place} * features + column] = static_cast<float>(column < half ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

class Builder {
 public:
  Builder(const Sizes& sizes, Checkpoint& checkpoint, Spec& spec, std::string where)
      : sizes_(sizes), checkpoint_(checkpoint), spec_(spec), where_(std::move(where)) {}

  EncoderDecoder build() {
    for (uint32_t i = 0; i < sizes_.decoder.layers; ++i) {
      const uint32_t head_dim = sizes_.features / sizes_.decoder.heads;
      const std::string layer = "decoder.layers." + std::to_string(i) + ".";
      states_.add(spec_, layer + "self_attn", layer + "encoder_attn", {sizes_.decoder.heads, head_dim, sizes_.positions});
    }
    encode();
    decode();
    return {sizes_.encoder.vocabulary, sizes_.decoder.vocabulary, sizes_.positions};
  }

 private:
  void encode() {
    GraphBuilder graph(spec_, "encode");
    const Side& side = sizes_.encoder;
    uint16_t rows = embed(graph, side, sizes_.positions, -1);
    for (uint32_t i = 0; i < side.layers; ++i) {
      const std::string layer = layer_name(side, i);
      rows = graph.result(attention(graph, side, layer + "self_attn", layer + "self_attn_layer_norm", rows, true));
      rows = feed_forward(graph, side, layer, rows);
    }
    for (uint32_t i = 0; i < sizes_.decoder.layers; ++i) {
      const std::string name = layer_name(sizes_.decoder, i) + "encoder_attn";
      schema::NodeT* node = graph.sink(OpKind::KeyValue, name, {rows});
      node->key = linear(graph, name + ".k_proj", sizes_.features, sizes_.features);
      node->value = linear(graph, name + ".v_proj", sizes_.features, sizes_.features);
      node->state = states_.source[i];
    }
    graph.output("rows", rows);
  }

  void decode() {
    GraphBuilder graph(spec_, "decode");
    const Side& side = sizes_.decoder;
    uint16_t rows = embed(graph, side, 1, states_.own.at(0));
    for (uint32_t i = 0; i < side.layers; ++i) {
      const std::string layer = layer_name(side, i);
      schema::NodeT* own = attention(graph, side, layer + "self_attn", layer + "self_attn_layer_norm", rows, true);
      own->state = states_.own[i];
      own->causal = true;
      schema::NodeT* source =
          attention(graph, side, layer + "encoder_attn", layer + "encoder_attn_layer_norm", graph.result(own), false);
      source->state = states_.source[i];
      rows = feed_forward(graph, side, layer, graph.result(source));
    }
    schema::NodeT* last = graph.node(OpKind::Linear, "lm_head", {rows});
    last->weight = output_matrix(graph);
    graph.output("logits", graph.result(last));
  }

  uint16_t embed(GraphBuilder& graph, const Side& side, uint32_t max_rows, int32_t state) {
    const uint16_t tokens = graph.input("tokens", ElementType::i32, max_rows, false);
    schema::NodeT* node = graph.node(OpKind::Embed, side.prefix + "embed_tokens", {tokens});
    node->token = token_table(graph, side);
    node->position = position_table(graph, side.prefix + "embed_positions.weight");
    node->position_offset = sizes_.sinusoids ? 0 : kBartOffset;
    if (sizes_.scale_embedding) node->scale = static_cast<float>(std::sqrt(static_cast<double>(sizes_.features)));
    if (sizes_.norm_embedding) node->norm_out = norm(graph, side.prefix + "layernorm_embedding");
    node->epsilon = kEpsilon;
    node->state = state;
    return graph.result(node);
  }

  // `projects_source`: keys and values are of the same rows as the queries; else a state has them.
  schema::NodeT* attention(GraphBuilder& graph, const Side& side, const std::string& name, const std::string& norm_name,
                           uint16_t rows, bool projects_source) {
    const uint32_t features = sizes_.features;
    schema::NodeT* node = graph.node(OpKind::Attention, name, {rows});
    node->query = linear(graph, name + ".q_proj", features, features);
    if (projects_source) node->key = linear(graph, name + ".k_proj", features, features);
    if (projects_source) node->value = linear(graph, name + ".v_proj", features, features);
    node->output = linear(graph, name + ".out_proj", features, features);
    node->norm_out = norm(graph, norm_name);
    node->heads = node->kv_heads = side.heads;
    node->head_dim = node->value_dim = features / side.heads;
    node->scale = static_cast<float>(1 / std::sqrt(static_cast<double>(node->head_dim)));
    node->epsilon = kEpsilon;
    node->residual = true;
    return node;
  }

  uint16_t feed_forward(GraphBuilder& graph, const Side& side, const std::string& layer, uint16_t rows) {
    schema::NodeT* node = graph.node(OpKind::FeedForward, layer + "feed_forward", {rows});
    node->up = linear(graph, layer + "fc1", side.hidden, sizes_.features);
    node->down = linear(graph, layer + "fc2", sizes_.features, side.hidden);
    node->norm_out = norm(graph, layer + "final_layer_norm");
    node->activation = sizes_.activation;
    node->epsilon = kEpsilon;
    node->residual = true;
    return graph.result(node);
  }

  // What the checkpoint may call the table of `side`'s tokens.
  std::vector<std::string> table_names(const Side& side) const {
    std::vector<std::string> names;
    if (sizes_.shares_tables) names = {"model.shared.weight", sizes_.encoder.prefix + "embed_tokens.weight"};
    if (sizes_.shares_tables || &side == &sizes_.decoder) {
      names.push_back(sizes_.decoder.prefix + "embed_tokens.weight");
      if (sizes_.tied) names.push_back("lm_head.weight");
      return names;
    }
    return {side.prefix + "embed_tokens.weight"};
  }

  // Of the decoder, and of both if they share it, it is the last matrix, too, if that is tied.
  int32_t token_table(GraphBuilder& graph, const Side& side) {
    if (sizes_.shares_tables && table_ >= 0) return table_;
    std::optional<SourceTensor> bias;
    if (sizes_.tied && (sizes_.shares_tables || &side == &sizes_.decoder)) bias = output_bias();
    table_ = graph.matrix(tied_tensor(checkpoint_, table_names(side), {side.vocabulary, sizes_.features}, where_), std::move(bias));
    return table_;
  }

  int32_t position_table(GraphBuilder& graph, const std::string& name) {
    const uint64_t rows = sizes_.sinusoids ? sizes_.positions : sizes_.positions + kBartOffset;
    if (!sizes_.sinusoids || checkpoint_.has(name)) {
      return graph.matrix(checkpoint_.take(name, {rows, sizes_.features}, where_ + " (\"max_position_embeddings\")"));
    }
    if (sinusoids_ < 0) {
      sinusoids_ = graph.matrix(computed_tensor("sinusoids", where_, {rows, sizes_.features}, sinusoids(sizes_.positions, sizes_.features)));
    }
    return sinusoids_;
  }

  int32_t output_matrix(GraphBuilder& graph) {
    if (sizes_.tied) return table_;
    return graph.matrix(checkpoint_.take("lm_head.weight", {sizes_.decoder.vocabulary, sizes_.features}, where_), output_bias());
  }

  // [1, vocabulary] in the checkpoint.
  SourceTensor output_bias() {
    const std::string name = "final_logits_bias";
    const uint64_t vocabulary = sizes_.decoder.vocabulary;
    if (!checkpoint_.has(name)) return computed_tensor(name, checkpoint_.where(), {vocabulary}, std::vector<float>(vocabulary));
    SourceTensor bias = checkpoint_.take(name, {1, vocabulary}, where_);
    bias.shape = {vocabulary};
    return bias;
  }

  static std::string layer_name(const Side& side, uint32_t layer) { return side.prefix + "layers." + std::to_string(layer) + "."; }

  int32_t linear(GraphBuilder& graph, const std::string& name, uint32_t rows, uint32_t cols) {
    const SourceTensor values = checkpoint_.take(name + ".weight", {rows, cols}, where_);
    return graph.matrix(values, checkpoint_.take(name + ".bias", {rows}, where_));
  }

  int32_t norm(GraphBuilder& graph, const std::string& name) {
    const SourceTensor gain = checkpoint_.take(name + ".weight", {sizes_.features}, where_);
    return graph.norm(gain, checkpoint_.take(name + ".bias", {sizes_.features}, where_));
  }

  const Sizes& sizes_;
  Checkpoint& checkpoint_;
  Spec& spec_;
  const std::string where_;
  DecoderStates states_;
  int32_t table_ = -1;  // of the tokens that were last embedded
  int32_t sinusoids_ = -1;
};

Side side_of(Config& config, const std::string& name, uint32_t vocabulary) {
  Side side{"model." + name + ".", vocabulary, config.size(name + "_layers"), config.size(name + "_attention_heads"), config.size(name + "_ffn_dim")};
  const uint32_t features = config.size("d_model");
  if (side.heads == 0 || features % side.heads != 0) {
    throw Error(config.where() + ": \"d_model\" " + std::to_string(features) + " cannot be shared by the " + std::to_string(side.heads) +
                " heads of \"" + name + "_attention_heads\"");
  }
  if (side.layers == 0) throw Error(config.where() + ": \"" + name + "_layers\" is 0");
  return side;
}

// What both families read.
Sizes sizes_of(Config& config, uint32_t source_vocabulary, uint32_t target_vocabulary) {
  config.only("normalize_before", {false});
  config.only("add_final_layer_norm", {false});
  config.only("add_bias_logits", {false});
  config.only("is_encoder_decoder", {true});
  config.only("position_embedding_type", {"absolute"});
  config.ignore({"activation_dropout", "attention_dropout", "classif_dropout", "classifier_dropout", "decoder_layerdrop", "dropout",
                 "encoder_layerdrop", "init_std", "num_hidden_layers"});
  Sizes sizes{};
  sizes.encoder = side_of(config, "encoder", source_vocabulary);
  sizes.decoder = side_of(config, "decoder", target_vocabulary);
  sizes.positions = config.size("max_position_embeddings");
  sizes.features = config.size("d_model");
  sizes.activation = activation_named(config.text("activation_function", "gelu"), config.where(), "activation_function");
  sizes.scale_embedding = config.flag("scale_embedding", false);
  sizes.tied = config.flag("tie_word_embeddings", true);
  return sizes;
}

}  // namespace

EncoderDecoder build_marian(Config& config, Checkpoint& checkpoint, Spec& spec) {
  config.only("static_position_embeddings", {true});
  config.only("normalize_embedding", {false});
  config.ignore({"extra_pos_embeddings"});
  const uint32_t vocabulary = config.size("vocab_size");
  const uint32_t target = config.size("decoder_vocab_size", vocabulary);
  Sizes sizes = sizes_of(config, vocabulary, target);
  sizes.sinusoids = true;
  sizes.shares_tables = config.flag("share_encoder_decoder_embeddings", true);
  if (sizes.shares_tables && target != vocabulary) {
    throw Error(config.where() + ": \"decoder_vocab_size\" is " + std::to_string(target) + " and \"vocab_size\" " + std::to_string(vocabulary) +
                ", but \"share_encoder_decoder_embeddings\" says that they share a table");
  }
  return Builder(sizes, checkpoint, spec, config.where()).build();
}

EncoderDecoder build_bart(Config& config, Checkpoint& checkpoint, Spec& spec) {
  config.only("static_position_embeddings", {false});
  config.only("normalize_embedding", {true});
  config.only("extra_pos_embeddings", {kBartOffset});
  const uint32_t vocabulary = config.size("vocab_size");
  Sizes sizes = sizes_of(config, vocabulary, vocabulary);
  sizes.norm_embedding = sizes.shares_tables = true;
  return Builder(sizes, checkpoint, spec, config.where()).build();
}

}  // namespace heed::tools
