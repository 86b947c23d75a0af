// What sentence-transformers adds to an encoder: pooling, dense layers, normalization, prompts and a text length.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "convert/families/families.h"

namespace heed::tools {

// One step of modules.json.
struct Module {
  std::string type;  // "Transformer", "Pooling", ...
  std::filesystem::path folder;
};

// The steps of `folder`'s modules.json, checked to be a Transformer followed by what heed can express; none if there
// is no such file.
std::vector<Module> read_modules(const std::filesystem::path& folder);

// Appends the steps after the Transformer to the graph and returns the last value.
uint16_t append_modules(const std::vector<Module>& modules, const Encoder& encoder, GraphBuilder& graph, Spec& spec);

// Reads prompts from config_sentence_transformers.json, if there is one.
void read_prompts(const std::filesystem::path& folder, schema::MetadataT& metadata);

// Sets where a text is cut: sentence_bert_config.json, else tokenizer_config.json, else the position table. The
// truncation inside tokenizer.json does not count, as in sentence-transformers.
void set_truncation(const std::filesystem::path& folder, uint32_t max_rows, schema::TokenizerT& tokenizer);

}  // namespace heed::tools
