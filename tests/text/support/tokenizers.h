// Tokenizers built in memory, and the reference files of tests/golden/tokenizer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "convert/tokenizer.h"
#include "heed/heed.h"
#include "model_generated.h"
#include "text/tokenizer.h"

namespace heed::test {

using Tokens = std::vector<heed_token>;

// A tokenizer as it lies in a model file, and a model that has nothing else.
class TextModel {
 public:
  explicit TextModel(const schema::TokenizerT& tokenizer);
  // A vocabulary of these pieces after [PAD] [UNK] [CLS] [SEP], with ids from 4 on.
  explicit TextModel(const std::vector<std::string>& pieces, tools::NormalizerOptions options = {});

  const schema::Tokenizer& table() const;
  const heed_model& model() const { return model_; }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  heed_model model_ = {};
};

inline constexpr uint32_t kUnknown = 1;
inline constexpr uint32_t kBegin = 2;
inline constexpr uint32_t kEnd = 3;

tools::WordPieceSpec spec_of(const std::vector<std::string>& pieces, tools::NormalizerOptions options = {});

// All tokens of a text through the C API; requires success. `max_tokens` 0: not cut.
Tokens tokenize(const TextModel& model, const std::string& text, uint32_t max_tokens = 0);
// The pieces without the special tokens around them, joined by spaces.
std::string pieces(const TextModel& model, const std::string& text);
// "id:begin:end ..."
std::string shown(const Tokens& tokens);

std::filesystem::path golden_folder();
std::vector<std::string> read_lines(const std::filesystem::path& path);
// A line of a group of texts: \xHH is a byte, \\ a backslash.
std::string unescaped(const std::string& line);

// A folder of its own that goes away with it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace heed::test
