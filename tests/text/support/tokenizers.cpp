// Tokenizers built in memory, and the reference files of tests/golden/tokenizer.
// SPDX-License-Identifier: Apache-2.0
#include "tokenizers.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

namespace heed::test {

namespace fs = std::filesystem;

tools::WordPieceSpec spec_of(const std::vector<std::string>& pieces, tools::NormalizerOptions options) {
  tools::WordPieceSpec spec;
  spec.where = "test";
  spec.pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
  spec.pieces.insert(spec.pieces.end(), pieces.begin(), pieces.end());
  spec.normalizer = options;
  spec.prefix = {kBegin};
  spec.suffix = {kEnd};
  return spec;
}

namespace {

schema::TokenizerT built(const tools::WordPieceSpec& spec) {
  schema::TokenizerT tokenizer;
  tools::build_wordpiece(spec, tokenizer);
  return tokenizer;
}

}  // namespace

TextModel::TextModel(const schema::TokenizerT& tokenizer) {
  ::flatbuffers::FlatBufferBuilder builder;
  const auto table = schema::CreateTokenizer(builder, &tokenizer);
  const auto graphs = builder.CreateVector(std::vector<::flatbuffers::Offset<schema::Graph>>());
  const auto weights = builder.CreateVector(std::vector<::flatbuffers::Offset<schema::Weight>>());
  schema::ModelBuilder model(builder);
  model.add_graphs(graphs);
  model.add_weights(weights);
  model.add_tokenizer(table);
  builder.Finish(model.Finish());
  bytes_.assign(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  model_.root = ::flatbuffers::GetRoot<schema::Model>(bytes_.data());
}

TextModel::TextModel(const std::vector<std::string>& pieces, tools::NormalizerOptions options)
    : TextModel(built(spec_of(pieces, options))) {}

const schema::Tokenizer& TextModel::table() const {
  return *static_cast<const schema::Model*>(model_.root)->tokenizer();
}

Tokens tokenize(const TextModel& model, const std::string& text, uint32_t max_tokens) {
  uint32_t count = 0;
  Tokens tokens(8 * text.size() + 64);
  const auto capacity = static_cast<uint32_t>(tokens.size());
  REQUIRE(heed_tokenize(&model.model(), text.data(), text.size(), max_tokens, tokens.data(), capacity, &count) ==
          HEED_OK);
  tokens.resize(count);
  return tokens;
}

std::string pieces(const TextModel& model, const std::string& text) {
  const Tokens tokens = tokenize(model, text);
  REQUIRE(tokens.size() >= 2);
  CHECK(tokens.front().id == kBegin);
  CHECK(tokens.back().id == kEnd);
  std::string joined;
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    uint32_t bytes = 0;
    const char* piece = heed_token_piece(&model.model(), tokens[i].id, &bytes);
    REQUIRE(piece);
    joined += (i > 1 ? " " : "") + std::string(piece, bytes);
  }
  return joined;
}

std::string shown(const Tokens& tokens) {
  std::string line;
  for (const heed_token& token : tokens) {
    line += (line.empty() ? "" : " ") + std::to_string(token.id) + ":" + std::to_string(token.begin) + ":" +
            std::to_string(token.end);
  }
  return line;
}

fs::path golden_folder() { return fs::path(HEED_SOURCE_DIR) / "tests/golden/tokenizer"; }

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string unescaped(const std::string& line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
    } else if (line[i + 1] == 'x') {
      text += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else {
      text += line[++i];
    }
  }
  return text;
}

TemporaryFolder::TemporaryFolder() {
  static int number = 0;
  path_ = fs::temp_directory_path() / ("heed_text_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
  fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TemporaryFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream file(path_ / name, std::ios::binary);
  file << text;
  REQUIRE(file.flush());
}

}  // namespace heed::test
