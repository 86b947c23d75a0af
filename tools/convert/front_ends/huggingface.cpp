// Reads a Hugging Face folder: config.json picks the family, modules.json says what follows the encoder.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>

#include "convert/front_ends/encoder_decoder.h"
#include "convert/front_ends/front_end.h"
#include "convert/front_ends/huggingface.h"
#include "convert/front_ends/sentence_transformers.h"
#include "convert/tokenizer.h"
#include "error.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

struct Family {
  const char* model_type;
  const char* architectures;  // what every class that holds this encoder is called: BertModel, BertForMaskedLM, ...
  Encoder (*build)(Config&, Checkpoint&, GraphBuilder&);
};

constexpr Family kFamilies[] = {{"bert", "Bert", build_bert}, {"distilbert", "DistilBert", build_distilbert}};

// Parts of a checkpoint that heed leaves out on purpose: heads over the encoder, and tables of 0, 1, 2, ...
constexpr const char* kLeftOut[] = {"embeddings.position_ids",
                                    "pooler.",
                                    "cls.",
                                    "classifier.",
                                    "qa_outputs.",
                                    "pre_classifier.",
                                    "vocab_transform.",
                                    "vocab_layer_norm.",
                                    "vocab_projector."};

const Family& family_of(Config& config) {
  const std::string type = config.text("model_type", "");
  std::string known = encoder_decoder_names();
  for (const Family& family : kFamilies) {
    if (type == family.model_type) return family;
    known += ", " + std::string(family.model_type);
  }
  throw Error(config.where() + ": \"model_type\" is \"" + type + "\", a family that heed does not have; it has " +
              known + ". Express the model as a graph folder instead (schemas/FORMAT.md)");
}

void check_architectures(Config& config, const Family& family) {
  const Json* list = config.find("architectures");
  if (!list) return;
  if (!list->is_array()) throw Error(config.where() + ": \"architectures\" is " + shown(*list) + ", not a list");
  for (const Json& entry : *list) {
    const std::string name = entry.is_string() ? entry.get<std::string>() : shown(entry);
    const std::string base = family.architectures;
    if (name != base + "Model" && name.rfind(base + "For", 0) != 0) {
      throw Error(config.where() + ": \"architectures\" has \"" + name + "\", which heed does not have; it has " +
                  base + "Model and " + base + "For... (their encoders)");
    }
  }
}

std::string licence_in(const fs::path& readme) {
  if (!fs::is_regular_file(readme)) return "";
  std::ifstream file(readme);
  std::string line;
  if (!std::getline(file, line) || line.rfind("---", 0) != 0) return "";
  while (std::getline(file, line) && line.rfind("---", 0) != 0) {
    if (line.rfind("license:", 0) != 0) continue;
    const size_t begin = line.find_first_not_of(" \"'", 8);
    const size_t end = line.find_last_not_of(" \"'\r");
    return begin == std::string::npos || end < begin ? "" : line.substr(begin, end - begin + 1);
  }
  return "";
}

void account_for_rest(const Checkpoint& checkpoint, Spec& spec) {
  std::vector<std::string> unknown;
  std::string left_out;
  for (const std::string& name : checkpoint.left_over()) {
    const bool known = std::any_of(std::begin(kLeftOut), std::end(kLeftOut), [&](const std::string part) {
      return name.rfind(part, 0) == 0 || name.find("." + part) != std::string::npos;
    });
    if (known) {
      left_out += (left_out.empty() ? "" : ", ") + name;
    } else {
      unknown.push_back(name);
    }
  }
  if (!unknown.empty()) {
    throw Error(checkpoint.where() + ": tensor '" + unknown[0] + "' is left over" +
                (unknown.size() > 1 ? " (and " + std::to_string(unknown.size() - 1) + " more)" : "") +
                ": the model has a part that heed does not know. Express it as a graph folder (schemas/FORMAT.md)");
  }
  if (left_out.empty()) return;
  spec.notes.push_back("what the file computes is the encoder; heads over it and what else it does not use are left out: " + left_out);
}

void read_tokenizer(const fs::path& folder, const std::string& model_type, const Encoder& encoder, Spec& spec) {
  if (!has_tokenizer(folder)) {
    spec.notes.push_back("no tokenizer.json, vocab.txt, vocab.json or SentencePiece model: the model takes token ids only");
    return;
  }
  spec.model.tokenizer = std::make_unique<schema::TokenizerT>();
  build_tokenizer(folder, model_type, *spec.model.tokenizer, &spec.notes);
  if (spec.model.tokenizer->vocabulary > encoder.vocabulary) {
    throw Error(folder.string() + ": the tokenizer has " + std::to_string(spec.model.tokenizer->vocabulary) +
                " pieces, but the token table only " + std::to_string(encoder.vocabulary) +
                " rows; they do not belong together");
  }
  set_truncation(folder, encoder.max_rows, *spec.model.tokenizer);
}

}  // namespace

void ignore_common(Config& config) {
  config.ignore({"_name_or_path",
                 "_attn_implementation",
                 "_commit_hash",
                 "attn_implementation",
                 "transformers_version",
                 "torch_dtype",
                 "dtype",
                 "initializer_range",
                 "gradient_checkpointing",
                 "use_cache",
                 "output_attentions",
                 "output_hidden_states",
                 "output_past",
                 "return_dict",
                 "torchscript",
                 "id2label",
                 "label2id",
                 "num_labels",
                 "problem_type",
                 "finetuning_task",
                 "task_specific_params",
                 "tokenizer_class",
                 "prefix",
                 "pad_token_id",
                 "bos_token_id",
                 "eos_token_id",
                 "sep_token_id",
                 "cls_token_id",
                 "mask_token_id",
                 "unk_token_id",
                 "decoder_start_token_id",
                 "directionality",
                 "chunk_size_feed_forward",
                 "tie_word_embeddings",
                 "model_max_length"});
}

bool accepts_huggingface(const fs::path& source) {
  return fs::exists(source / "config.json") || fs::exists(source / "modules.json");
}

Spec read_huggingface(const fs::path& source, const std::string& task) {
  const std::vector<Module> modules = read_modules(source);
  const fs::path folder = modules.empty() ? source : modules[0].folder;
  Config config(read_json(folder / "config.json"), (folder / "config.json").string());
  if (is_encoder_decoder(config.text("model_type", ""))) {
    Spec spec = read_encoder_decoder(folder, config, task);
    spec.model.metadata->source = config.text("_name_or_path", "");
    spec.model.metadata->licence = licence_in(source / "README.md");
    return spec;
  }
  const Family& family = family_of(config);
  if (!task.empty()) throw Error(config.where() + ": --task is of use only for an encoder-decoder, which searches outputs");
  check_architectures(config, family);
  ignore_common(config);

  Spec spec;
  spec.origin = config.where();
  Checkpoint checkpoint = Checkpoint::open(folder);
  for (const auto& file : checkpoint.files()) spec.keep_alive.push_back(file);
  GraphBuilder graph(spec, "main");
  const Encoder encoder = family.build(config, checkpoint, graph);
  config.finish();
  account_for_rest(checkpoint, spec);
  const uint16_t last = append_modules(modules, encoder, graph, spec);
  graph.output(modules.size() > 1 ? "embedding" : "hidden", last);

  spec.model.metadata = std::make_unique<schema::MetadataT>();
  spec.model.metadata->family = family.model_type;
  spec.model.metadata->source = config.text("_name_or_path", "");
  spec.model.metadata->licence = licence_in(source / "README.md");
  read_prompts(source, *spec.model.metadata);
  read_tokenizer(folder, family.model_type, encoder, spec);
  return spec;
}

}  // namespace heed::tools
