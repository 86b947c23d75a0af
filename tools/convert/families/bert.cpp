// BERT and DistilBERT: embeddings, then blocks of attention and feed-forward, each normalized after its residual.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>

#include "convert/families/families.h"
#include "error.h"

namespace heed::tools {
namespace {

using schema::OpKind;

// How a family calls the tensors of its embeddings and of one block, after the common prefix.
struct Names {
  std::string token, position, segment, embedding_norm;  // segment: empty if there are none
  std::string block;                                     // of block i: block + i + "."
  std::string query, key, value, output, attention_norm, up, down, output_norm;
};

const Names kBert = {"embeddings.word_embeddings",
                     "embeddings.position_embeddings",
                     "embeddings.token_type_embeddings",
                     "embeddings.LayerNorm",
                     "encoder.layer.",
                     "attention.self.query",
                     "attention.self.key",
                     "attention.self.value",
                     "attention.output.dense",
                     "attention.output.LayerNorm",
                     "intermediate.dense",
                     "output.dense",
                     "output.LayerNorm"};

const Names kDistilBert = {"embeddings.word_embeddings",
                           "embeddings.position_embeddings",
                           "",
                           "embeddings.LayerNorm",
                           "transformer.layer.",
                           "attention.q_lin",
                           "attention.k_lin",
                           "attention.v_lin",
                           "attention.out_lin",
                           "sa_layer_norm",
                           "ffn.lin1",
                           "ffn.lin2",
                           "output_layer_norm"};

struct Sizes {
  uint32_t vocabulary, positions, segments, layers, heads, features, hidden;
  schema::ActivationKind activation;
  float epsilon;
};

class Builder {
 public:
  Builder(const Names& names, const Sizes& sizes, std::string prefix, Checkpoint& checkpoint, GraphBuilder& graph,
          std::string where)
      : names_(names),
        sizes_(sizes),
        prefix_(std::move(prefix)),
        checkpoint_(checkpoint),
        graph_(graph),
        where_(std::move(where)) {}

  Encoder build() {
    uint16_t rows = embed();
    for (uint32_t i = 0; i < sizes_.layers; ++i) {
      const std::string block = names_.block + std::to_string(i) + ".";
      rows = attention(block, rows);
      rows = feed_forward(block, rows);
    }
    return {rows, sizes_.features, sizes_.positions, sizes_.vocabulary};
  }

 private:
  uint16_t embed() {
    std::vector<uint16_t> inputs = {graph_.input("tokens", schema::ElementType::i32, sizes_.positions, false)};
    if (!names_.segment.empty()) {
      inputs.push_back(graph_.input("segments", schema::ElementType::i32, sizes_.positions, true));
    }
    schema::NodeT* node = graph_.node(OpKind::Embed, "embeddings", inputs);
    node->token = table(names_.token, sizes_.vocabulary, "vocab_size");
    node->position = table(names_.position, sizes_.positions, "max_position_embeddings");
    if (!names_.segment.empty()) node->segment = table(names_.segment, sizes_.segments, "type_vocab_size");
    node->norm_out = norm(names_.embedding_norm);
    node->epsilon = sizes_.epsilon;
    return graph_.result(node);
  }

  uint16_t attention(const std::string& block, uint16_t rows) {
    schema::NodeT* node = graph_.node(OpKind::Attention, block + "attention", {rows});
    node->query = linear(block + names_.query, sizes_.features, sizes_.features);
    node->key = linear(block + names_.key, sizes_.features, sizes_.features);
    node->value = linear(block + names_.value, sizes_.features, sizes_.features);
    node->output = linear(block + names_.output, sizes_.features, sizes_.features);
    node->norm_out = norm(block + names_.attention_norm);
    node->heads = node->kv_heads = sizes_.heads;
    node->head_dim = node->value_dim = sizes_.features / sizes_.heads;
    node->scale = static_cast<float>(1 / std::sqrt(static_cast<double>(node->head_dim)));
    node->epsilon = sizes_.epsilon;
    node->residual = true;
    return graph_.result(node);
  }

  uint16_t feed_forward(const std::string& block, uint16_t rows) {
    schema::NodeT* node = graph_.node(OpKind::FeedForward, block + "feed_forward", {rows});
    node->up = linear(block + names_.up, sizes_.hidden, sizes_.features);
    node->down = linear(block + names_.down, sizes_.features, sizes_.hidden);
    node->norm_out = norm(block + names_.output_norm);
    node->activation = sizes_.activation;
    node->epsilon = sizes_.epsilon;
    node->residual = true;
    return graph_.result(node);
  }

  int32_t table(const std::string& name, uint32_t rows, const char* key) {
    return graph_.matrix(
        checkpoint_.take(prefix_ + name + ".weight", {rows, sizes_.features}, where_ + " (\"" + key + "\")"));
  }

  int32_t linear(const std::string& name, uint32_t rows, uint32_t cols) {
    const SourceTensor values = checkpoint_.take(prefix_ + name + ".weight", {rows, cols}, where_);
    return graph_.matrix(values, checkpoint_.take(prefix_ + name + ".bias", {rows}, where_));
  }

  // Checkpoints from before PyTorch call a norm's gain and shift gamma and beta.
  int32_t norm(const std::string& name) {
    const bool old = checkpoint_.has(prefix_ + name + ".gamma");
    const SourceTensor gain =
        checkpoint_.take(prefix_ + name + (old ? ".gamma" : ".weight"), {sizes_.features}, where_);
    return graph_.norm(gain, checkpoint_.take(prefix_ + name + (old ? ".beta" : ".bias"), {sizes_.features}, where_));
  }

  const Names& names_;
  const Sizes& sizes_;
  const std::string prefix_;
  Checkpoint& checkpoint_;
  GraphBuilder& graph_;
  const std::string where_;
};

Encoder build(const Names& names, const Sizes& sizes, const char* prefix, Config& config, Checkpoint& checkpoint,
              GraphBuilder& graph) {
  if (sizes.heads == 0 || sizes.features % sizes.heads != 0) {
    throw Error(config.where() + ": " + std::to_string(sizes.features) + " features cannot be shared by " +
                std::to_string(sizes.heads) + " attention heads");
  }
  // Models with a head keep the encoder under its own name.
  const bool headed = checkpoint.has(prefix + names.token + ".weight");
  return Builder(names, sizes, headed ? prefix : "", checkpoint, graph, config.where()).build();
}

}  // namespace

schema::ActivationKind activation_named(const std::string& name, const std::string& where, const std::string& key) {
  using schema::ActivationKind;
  static const std::map<std::string, ActivationKind> kinds = {
      {"relu", ActivationKind::relu},           {"gelu", ActivationKind::gelu},
      {"gelu_python", ActivationKind::gelu},    {"gelu_new", ActivationKind::gelu_tanh},
      {"gelu_fast", ActivationKind::gelu_tanh}, {"gelu_pytorch_tanh", ActivationKind::gelu_tanh},
      {"silu", ActivationKind::silu},           {"swish", ActivationKind::silu},
      {"tanh", ActivationKind::tanh},           {"sigmoid", ActivationKind::sigmoid}};
  const auto found = kinds.find(name);
  if (found != kinds.end()) return found->second;
  std::string known;
  for (const auto& [one, kind] : kinds) known += (known.empty() ? "" : ", ") + one;
  throw Error(where + ": \"" + key + "\" is \"" + name + "\", an activation that heed does not have; it has " + known);
}

Encoder build_bert(Config& config, Checkpoint& checkpoint, GraphBuilder& graph) {
  config.only("position_embedding_type", {"absolute"});
  config.only("is_decoder", {false});
  config.only("is_encoder_decoder", {false});
  config.only("add_cross_attention", {false});
  config.only("pruned_heads", {Json::object()});
  config.ignore({"attention_probs_dropout_prob", "classifier_dropout", "hidden_dropout_prob", "pooler_fc_size",
                 "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"});
  Sizes sizes;
  sizes.vocabulary = config.size("vocab_size");
  sizes.positions = config.size("max_position_embeddings");
  sizes.segments = config.size("type_vocab_size", 2);
  sizes.layers = config.size("num_hidden_layers");
  sizes.heads = config.size("num_attention_heads");
  sizes.features = config.size("hidden_size");
  sizes.hidden = config.size("intermediate_size");
  sizes.activation = activation_named(config.text("hidden_act", "gelu"), config.where(), "hidden_act");
  sizes.epsilon = static_cast<float>(config.number("layer_norm_eps", 1e-12));
  return build(kBert, sizes, "bert.", config, checkpoint, graph);
}

Encoder build_distilbert(Config& config, Checkpoint& checkpoint, GraphBuilder& graph) {
  config.only("pruned_heads", {Json::object()});
  // Sinusoids, if any, are in the checkpoint like every other position table.
  config.ignore(
      {"attention_dropout", "dropout", "qa_dropout", "seq_classif_dropout", "sinusoidal_pos_embds", "tie_weights_"});
  Sizes sizes;
  sizes.vocabulary = config.size("vocab_size");
  sizes.positions = config.size("max_position_embeddings");
  sizes.segments = 0;
  sizes.layers = config.size("n_layers");
  sizes.heads = config.size("n_heads");
  sizes.features = config.size("dim");
  sizes.hidden = config.size("hidden_dim");
  sizes.activation = activation_named(config.text("activation", "gelu"), config.where(), "activation");
  sizes.epsilon = 1e-12f;
  return build(kDistilBert, sizes, "distilbert.", config, checkpoint, graph);
}

}  // namespace heed::tools
