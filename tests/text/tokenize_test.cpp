// The C API for texts: lengths, buffers, pieces.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstring>

#include "support/tokenizers.h"

namespace heed::test {
namespace {

const std::vector<std::string> kPieces = {"one", "two", "three", "##s"};

schema::TokenizerT built(const tools::WordPieceSpec& spec) {
  schema::TokenizerT tokenizer;
  tools::build_wordpiece(spec, tokenizer);
  return tokenizer;
}

heed_status tokenize_into(const TextModel& model, const std::string& text, uint32_t max_tokens, Tokens& tokens,
                          uint32_t* count) {
  return heed_tokenize(&model.model(), text.data(), text.size(), max_tokens, tokens.data(),
                       static_cast<uint32_t>(tokens.size()), count);
}

TEST_CASE("CLI-06 A text is cut to a number of tokens, and its special tokens stay") {
  const TextModel model(kPieces);
  const std::string text = "one two threes one";
  CHECK(shown(tokenize(model, text, 100)) == "2:0:0 4:0:3 5:4:7 6:8:13 7:13:14 4:15:18 3:18:18");
  CHECK(shown(tokenize(model, text, 7)) == shown(tokenize(model, text)));
  CHECK(shown(tokenize(model, text, 5)) == "2:0:0 4:0:3 5:4:7 6:8:13 3:18:18");
  CHECK(shown(tokenize(model, text, 3)) == "2:0:0 4:0:3 3:18:18");
  CHECK(shown(tokenize(model, text, 2)) == "2:0:0 3:18:18");
  // No room even for the special tokens: refused, since a result may not be longer than asked for.
  Tokens tokens(10);
  uint32_t count = 77;
  CHECK(tokenize_into(model, text, 1, tokens, &count) == HEED_INVALID_ARGUMENT);
  CHECK(count == 0);
}

TEST_CASE("A cut never leaves part of a word that is unknown") {
  const TextModel model({"a", "##b"});
  // With room for one token of the text: "abc" is unknown although its first piece fits.
  CHECK(shown(tokenize(model, "abc a", 3)) == "2:0:0 1:0:3 3:5:5");
  CHECK(shown(tokenize(model, "ab a", 3)) == "2:0:0 4:0:1 3:4:4");
}

TEST_CASE("Without a number of tokens the model's own truncation counts") {
  schema::TokenizerT tokenizer = built(spec_of(kPieces));
  tokenizer.truncation = 4;
  CHECK(shown(tokenize(TextModel(tokenizer), "one two three")) == "2:0:0 4:0:3 5:4:7 3:13:13");
  CHECK(tokenize(TextModel(tokenizer), "one two three", 5).size() == 5);
  tokenizer.truncation = 1;  // a file that contradicts itself
  uint32_t count = 0;
  Tokens tokens(10);
  CHECK(tokenize_into(TextModel(tokenizer), "one", 0, tokens, &count) == HEED_CORRUPT);
}

TEST_CASE("TOK-23 A buffer that is too small is left alone, and the needed size is reported") {
  const TextModel model(kPieces);
  const std::string text = "one two threes one";
  const uint32_t max_tokens = GENERATE(0, 5, 7, 100);
  const Tokens wanted = tokenize(model, text, max_tokens);
  for (uint32_t capacity = 0; capacity <= wanted.size() + 2; ++capacity) {
    Tokens tokens(wanted.size() + 3, heed_token{99, 99, 99});
    uint32_t count = 77;
    const heed_status status = heed_tokenize(&model.model(), text.data(), text.size(), max_tokens,
                                             capacity == 0 ? nullptr : tokens.data(), capacity, &count);
    CHECK(count == wanted.size());
    CHECK(status == (capacity < wanted.size() ? HEED_BUFFER_TOO_SMALL : HEED_OK));
    const size_t written = status == HEED_OK ? wanted.size() : 0;
    for (size_t i = 0; i < tokens.size(); ++i) CHECK(tokens[i].id == (i < written ? wanted[i].id : 99));
  }
}

TEST_CASE("TOK-23 Pieces of any length are found whole, without a buffer to copy them to") {
  std::vector<std::string> long_ones;
  for (const size_t bytes : {1, 32, 33, 200, 1000000}) long_ones.emplace_back(bytes, 'x');
  const TextModel model(long_ones);
  for (uint32_t i = 0; i < long_ones.size(); ++i) {
    uint32_t bytes = 0;
    const char* piece = heed_token_piece(&model.model(), 4 + i, &bytes);
    REQUIRE(bytes == long_ones[i].size());
    CHECK(std::memcmp(piece, long_ones[i].data(), bytes) == 0);
    CHECK(heed_token_piece(&model.model(), 4 + i, nullptr) == piece);
  }
  uint32_t bytes = 77;
  CHECK(heed_token_piece(&model.model(), 4 + static_cast<uint32_t>(long_ones.size()), &bytes) == nullptr);
  CHECK(bytes == 0);
  CHECK(heed_token_piece(&model.model(), 0xFFFFFFFFu, &bytes) == nullptr);
}

TEST_CASE("TOK-21 A text too long for its offsets is refused before a byte of it is read") {
  const TextModel model(kPieces);
  uint32_t count = 77;
  heed_token token = {};
  for (const uint64_t bytes : {(uint64_t{1} << 31) + 1, (uint64_t{1} << 32) + 1, ~uint64_t{0}}) {
    CHECK(heed_tokenize(&model.model(), "one", bytes, 0, &token, 1, &count) == HEED_TOO_LONG);
    CHECK(count == 0);
  }
}

TEST_CASE("TOK-21 A hundred megabytes of line ends are two tokens; ten million words are counted") {
  const TextModel model(kPieces);
  CHECK(tokenize(model, std::string(10, '\n')).size() == 2);
  const std::string lines(100000000, '\n');
  uint32_t count = 0;
  CHECK(heed_tokenize(&model.model(), lines.data(), lines.size(), 0, nullptr, 0, &count) == HEED_BUFFER_TOO_SMALL);
  CHECK(count == 2);
  const std::string dots(10000000, '.');
  CHECK(heed_tokenize(&model.model(), dots.data(), dots.size(), 0, nullptr, 0, &count) == HEED_BUFFER_TOO_SMALL);
  CHECK(count == 10000002);
  CHECK(heed_tokenize(&model.model(), dots.data(), dots.size(), 512, nullptr, 0, &count) == HEED_BUFFER_TOO_SMALL);
  CHECK(count == 512);
}

TEST_CASE("Missing arguments are refused") {
  const TextModel model(kPieces);
  heed_token token = {};
  uint32_t count = 77;
  CHECK(heed_tokenize(nullptr, "", 0, 0, &token, 1, &count) == HEED_INVALID_ARGUMENT);
  CHECK(count == 0);
  CHECK(heed_tokenize(&model.model(), nullptr, 1, 0, &token, 1, &count) == HEED_INVALID_ARGUMENT);
  CHECK(heed_tokenize(&model.model(), "", 0, 0, nullptr, 1, &count) == HEED_INVALID_ARGUMENT);
  CHECK(heed_tokenize(&model.model(), "", 0, 0, &token, 1, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_token_piece(nullptr, 0, &count) == nullptr);
  Tokens tokens(2);
  CHECK(heed_tokenize(&model.model(), nullptr, 0, 0, tokens.data(), 2, &count) == HEED_OK);
  CHECK(count == 2);
}

TEST_CASE("A model without a tokenizer, or with a kind that is not built in, says so") {
  schema::TokenizerT tokenizer = built(spec_of(kPieces));
  uint32_t count = 0;
  Tokens tokens(10);
  tokenizer.kind = schema::TokenizerKind::none;
  CHECK(tokenize_into(TextModel(tokenizer), "one", 0, tokens, &count) == HEED_NO_TOKENIZER);
  tokenizer.kind = static_cast<schema::TokenizerKind>(99);
  CHECK(tokenize_into(TextModel(tokenizer), "one", 0, tokens, &count) == HEED_UNSUPPORTED);
}

}  // namespace
}  // namespace heed::test
