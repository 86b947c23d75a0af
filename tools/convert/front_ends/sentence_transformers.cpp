// modules.json and the files around it.
// SPDX-License-Identifier: Apache-2.0
#include "convert/front_ends/sentence_transformers.h"

#include <map>

#include "error.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;
using schema::OpKind;
using schema::PoolKind;

// "sentence_transformers.models.Pooling" -> "Pooling"; a class from elsewhere keeps its whole name.
std::string module_type(const std::string& name) {
  return name.rfind("sentence_transformers.", 0) == 0 ? name.substr(name.rfind('.') + 1) : name;
}

PoolKind pool_kind(Config& config) {
  static const std::map<std::string, PoolKind> kinds = {
      {"cls", PoolKind::first}, {"mean", PoolKind::mean}, {"max", PoolKind::max}, {"lasttoken", PoolKind::last}};
  std::vector<std::string> modes;
  const auto old_flag = [&](const char* key, const char* mode) {
    if (config.flag(key, false)) modes.push_back(mode);
  };
  old_flag("pooling_mode_cls_token", "cls");
  old_flag("pooling_mode_mean_tokens", "mean");
  old_flag("pooling_mode_max_tokens", "max");
  old_flag("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len");
  old_flag("pooling_mode_weightedmean_tokens", "weightedmean");
  old_flag("pooling_mode_lasttoken", "lasttoken");
  if (const std::string mode = config.text("pooling_mode", ""); !mode.empty()) modes.push_back(mode);
  if (modes.size() > 1) {
    throw Error(config.where() + ": pools in several ways at once (" + modes[0] + " and " + modes[1] +
                "), joining the results; heed has one of cls, mean, max, lasttoken");
  }
  const std::string mode = modes.empty() ? "none" : modes[0];
  const auto found = kinds.find(mode);
  if (found == kinds.end()) {
    throw Error(config.where() + ": pooling mode \"" + mode +
                "\" is not available; heed has cls, mean, max, lasttoken");
  }
  return found->second;
}

// A value with as many features, and what the next step may ask about it.
struct Stage {
  uint16_t value;
  uint32_t features;
};

Stage append_pooling(const Module& module, Stage stage, GraphBuilder& graph) {
  Config config(read_json(module.folder / "config.json"), (module.folder / "config.json").string());
  const char* width = config.has("embedding_dimension") ? "embedding_dimension" : "word_embedding_dimension";
  if (config.size(width, stage.features) != stage.features) {
    throw Error(config.where() + ": \"" + width + "\" contradicts the encoder, which has " +
                std::to_string(stage.features) + " features");
  }
  config.only("include_prompt", {true});
  schema::NodeT* node = graph.node(OpKind::Pool, "pooling", {stage.value});
  node->pool = pool_kind(config);
  config.finish();
  return {graph.result(node), stage.features};
}

schema::ActivationKind dense_activation(Config& config) {
  static const std::map<std::string, std::string> names = {
      {"ReLU", "relu"}, {"GELU", "gelu"}, {"SiLU", "silu"}, {"Tanh", "tanh"}, {"Sigmoid", "sigmoid"}};
  const std::string name = config.text("activation_function", "torch.nn.modules.activation.Tanh");
  const std::string kind = name.substr(name.rfind('.') + 1);
  if (kind == "Identity") return schema::ActivationKind::none;
  const auto found = names.find(kind);
  return activation_named(found == names.end() ? name : found->second, config.where(), "activation_function");
}

Stage append_dense(const Module& module, Stage stage, GraphBuilder& graph, Spec& spec) {
  Config config(read_json(module.folder / "config.json"), (module.folder / "config.json").string());
  const uint32_t in = config.size("in_features");
  const uint32_t out = config.size("out_features");
  if (in != stage.features) {
    throw Error(config.where() + ": \"in_features\" is " + std::to_string(in) + ", but what comes before has " +
                std::to_string(stage.features) + " features");
  }
  Checkpoint checkpoint = Checkpoint::open(module.folder);
  std::optional<SourceTensor> bias;
  if (config.flag("bias", true)) bias = checkpoint.take("linear.bias", {out}, config.where());
  schema::NodeT* node = graph.node(OpKind::Linear, module.folder.filename().string(), {stage.value});
  node->weight = graph.matrix(checkpoint.take("linear.weight", {out, in}, config.where()), bias);
  node->activation = dense_activation(config);
  config.ignore({"module_input_name", "module_output_name"});
  config.finish();
  for (const std::string& name : checkpoint.left_over()) {
    throw Error(module.folder.string() + ": tensor '" + name + "' is left over; heed does not know what it does");
  }
  for (const auto& file : checkpoint.files()) spec.keep_alive.push_back(file);
  return {graph.result(node), out};
}

// A length from a file, or 0 if the file or the key is absent or says "no limit".
uint32_t length_from(const fs::path& path, const char* key) {
  if (!fs::exists(path)) return 0;
  const Json json = read_json(path);
  const auto value = json.is_object() ? json.find(key) : json.end();
  if (value == json.end() || value->is_null()) return 0;
  if (!value->is_number() || value->get<double>() < 1) {
    throw Error(path.string() + ": \"" + key + "\" is " + shown(*value) + ", which is not a length");
  }
  return value->get<double>() < 0x1p31 ? value->get<uint32_t>() : 0;
}

// The Transformer module's own settings besides the length: none may change which tokens a text gets.
void check_text_settings(const fs::path& folder) {
  const fs::path path = folder / "sentence_bert_config.json";
  if (!fs::exists(path)) return;
  Config config(read_json(path), path.string());
  bool lower = true;
  if (fs::exists(folder / "tokenizer_config.json")) {
    const fs::path tokenizer = folder / "tokenizer_config.json";
    lower = Config(read_json(tokenizer), tokenizer.string()).flag("do_lower_case", true);
  }
  if (!lower) config.only("do_lower_case", {false});
  config.ignore({"max_seq_length", "do_lower_case"});
  for (const char* key :
       {"model_args", "tokenizer_args", "config_args", "model_kwargs", "tokenizer_kwargs", "config_kwargs"}) {
    config.only(key, {Json::object()});
  }
  config.only("transformer_task", {"feature-extraction"});
  config.finish();
}

}  // namespace

std::vector<Module> read_modules(const fs::path& folder) {
  const fs::path path = folder / "modules.json";
  std::vector<Module> modules;
  if (!fs::exists(path)) return modules;
  const Json json = read_json(path);
  const std::string where = path.string();
  if (!json.is_array() || json.empty()) throw Error(where + ": expected a list of modules, found " + shown(json));
  for (const Json& entry : json) {
    Config config(entry, where);
    const std::string name = config.text("path", "");
    modules.push_back({module_type(config.text("type", "")), name.empty() ? folder : path_inside(folder, name, where)});
    config.ignore({"idx", "name", "kwargs"});
    config.finish();
    const std::string& type = modules.back().type;
    const bool first = modules.size() == 1;
    const bool known = first ? type == "Transformer" : type == "Pooling" || type == "Dense" || type == "Normalize";
    if (!known || (modules.size() == 2 && type != "Pooling")) {
      throw Error(where + ": module " + std::to_string(modules.size()) + " is \"" + type +
                  "\"; heed converts a Transformer, then Pooling, then any of Dense and Normalize");
    }
    if (modules.size() > 2 && type == "Pooling") throw Error(where + ": has two Pooling modules; heed converts one");
  }
  return modules;
}

uint16_t append_modules(const std::vector<Module>& modules, const Encoder& encoder, GraphBuilder& graph, Spec& spec) {
  Stage stage{encoder.hidden, encoder.features};
  for (size_t i = 1; i < modules.size(); ++i) {
    if (modules[i].type == "Pooling") stage = append_pooling(modules[i], stage, graph);
    if (modules[i].type == "Dense") stage = append_dense(modules[i], stage, graph, spec);
    if (modules[i].type == "Normalize") {
      stage.value = graph.result(graph.node(OpKind::L2Normalize, "normalize", {stage.value}));
    }
  }
  return stage.value;
}

void read_prompts(const fs::path& folder, schema::MetadataT& metadata) {
  const fs::path path = folder / "config_sentence_transformers.json";
  if (!fs::exists(path)) return;
  Config config(read_json(path), path.string());
  config.ignore({"__version__", "similarity_fn_name", "model_type"});
  config.only("truncate_dim", {});
  if (const Json* prompts = config.find("prompts")) {
    if (!prompts->is_object()) {
      throw Error(path.string() + ": \"prompts\" is " + shown(*prompts) + ", not texts by name");
    }
    for (const auto& [name, text] : prompts->items()) {
      if (!text.is_string()) {
        throw Error(path.string() + ": prompt \"" + name + "\" is " + shown(text) + ", not a text");
      }
      metadata.prompts.push_back(std::make_unique<schema::PromptT>());
      metadata.prompts.back()->name = name;
      metadata.prompts.back()->text = text.get<std::string>();
    }
  }
  metadata.default_prompt = config.text("default_prompt_name", "");
  bool known = metadata.default_prompt.empty();
  for (const auto& prompt : metadata.prompts) known = known || prompt->name == metadata.default_prompt;
  if (!known) {
    throw Error(path.string() + ": \"default_prompt_name\" is \"" + metadata.default_prompt +
                "\", which is not one of the prompts");
  }
  config.finish();
}

void set_truncation(const fs::path& folder, uint32_t max_rows, schema::TokenizerT& tokenizer) {
  using schema::TruncationSource;
  check_text_settings(folder);
  tokenizer.truncation = length_from(folder / "sentence_bert_config.json", "max_seq_length");
  tokenizer.truncation_source = TruncationSource::sentence_bert_config;
  if (tokenizer.truncation == 0) {
    tokenizer.truncation = length_from(folder / "tokenizer_config.json", "model_max_length");
    tokenizer.truncation_source = TruncationSource::tokenizer_config;
  }
  if (tokenizer.truncation == 0 || tokenizer.truncation > max_rows) {
    tokenizer.truncation = max_rows;
    tokenizer.truncation_source = TruncationSource::position_table;
  }
}

}  // namespace heed::tools
