// A vocabulary of 40 pieces for tiny models, and views of what a converted file says about texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "files.h"
#include "model_generated.h"
#include "support/safetensors_file.h"

namespace heed::test {

// [PAD] [UNK] [CLS] [SEP] [MASK], w5 .. w39.
inline void write_vocabulary(const std::filesystem::path& folder,
                             const std::string& tokenizer_config = "{\"do_lower_case\":true}") {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 5; i < 40; ++i) text += "w" + std::to_string(i) + "\n";
  write_file(folder / "vocab.txt", text);
  write_file(folder / "tokenizer_config.json", tokenizer_config);
}

inline schema::ModelT read_tables(const std::filesystem::path& path) {
  const tools::MappedFile file(path);
  schema::ModelT model;
  schema::GetSizePrefixedModel(file.data())->UnPackTo(&model);
  return model;
}

}  // namespace heed::test
