// SPDX-License-Identifier: Apache-2.0
#include "convert/front_ends/encoder_decoder.h"

#include <algorithm>

#include "convert/front_ends/generation.h"
#include "convert/front_ends/huggingface.h"
#include "convert/front_ends/tasks.h"
#include "convert/tokenizer.h"
#include "error.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

struct Family {
  const char* model_type;
  const char* architecture;  // the class with a head over the vocabulary
  EncoderDecoder (*build)(Config&, Checkpoint&, Spec&);
};

constexpr Family kFamilies[] = {{"marian", "MarianMTModel", build_marian}, {"bart", "BartForConditionalGeneration", build_bart},
                                 {"t5", "T5ForConditionalGeneration", build_t5}};

const Family* family_named(const std::string& model_type) {
  const auto* found = std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& one) { return model_type == one.model_type; });
  return found == std::end(kFamilies) ? nullptr : found;
}

void check_architectures(Config& config, const Family& family) {
  const Json* list = config.find("architectures");
  if (!list || *list == Json::array({family.architecture})) return;
  throw Error(config.where() + ": \"architectures\" is " + shown(*list) + "; of this family heed has " + family.architecture);
}

void refuse_left_over(const Checkpoint& checkpoint) {
  const std::vector<std::string> names = checkpoint.left_over();
  if (names.empty()) return;
  throw Error(checkpoint.where() + ": tensor '" + names[0] + "' is left over" +
              (names.size() > 1 ? " (and " + std::to_string(names.size() - 1) + " more)" : "") +
              ": the model has a part that heed does not know. Express it as a graph folder (schemas/FORMAT.md)");
}

void check_rows(const fs::path& folder, const char* side, const schema::TokenizerT& tokenizer, uint32_t rows) {
  if (tokenizer.vocabulary <= rows) return;
  throw Error(folder.string() + ": the " + side + "'s tokenizer has " + std::to_string(tokenizer.vocabulary) + " pieces, but its token table only " +
              std::to_string(rows) + " rows; they do not belong together");
}

// The tokenizers of both sides. Where one serves both, the search has its first and last token from `generation`.
void take_tokenizers(const fs::path& folder, const Family& family, const EncoderDecoder& built, Spec& spec) {
  if (!has_tokenizer(folder)) {
    spec.notes.push_back("the model takes and gives token ids only (run --tokens): there are no tokenizer files");
    return;
  }
  Tokenizers tokenizers = read_tokenizers(folder, family.model_type);
  check_rows(folder, "source", *tokenizers.source, built.source_vocabulary);
  check_rows(folder, "target", tokenizers.target ? *tokenizers.target : *tokenizers.source, built.target_vocabulary);
  spec.notes.insert(spec.notes.end(), tokenizers.notes.begin(), tokenizers.notes.end());
  spec.model.tokenizer = std::move(tokenizers.source);
  spec.model.target_tokenizer = std::move(tokenizers.target);
}

}  // namespace

bool is_encoder_decoder(const std::string& model_type) { return family_named(model_type) != nullptr; }

std::string encoder_decoder_names() {
  std::string names;
  for (const Family& family : kFamilies) names += (names.empty() ? "" : ", ") + std::string(family.model_type);
  return names;
}

Spec read_encoder_decoder(const fs::path& folder, Config& config, const std::string& task) {
  const Family& family = *family_named(config.text("model_type", ""));
  check_architectures(config, family);
  Spec spec;
  spec.origin = config.where();
  Checkpoint checkpoint = Checkpoint::open(folder);
  for (const auto& file : checkpoint.files()) spec.keep_alive.push_back(file);
  spec.model.metadata = std::make_unique<schema::MetadataT>();
  spec.model.metadata->family = family.model_type;
  const EncoderDecoder built = family.build(config, checkpoint, spec);
  read_generation(folder, config, read_task_search(config, task, spec), built, spec);
  read_task_prefixes(config, task, spec);
  ignore_common(config);
  config.finish();
  refuse_left_over(checkpoint);
  take_tokenizers(folder, family, built, spec);
  return spec;
}

}  // namespace heed::tools
