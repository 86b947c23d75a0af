// Any bytes as a text, for both kinds of tokenizer: tokens lie in order inside the text, however small the buffer, and any ids join.
// HEED_FUZZ_WORDS names a model file with a word tokenizer.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include "convert/tokenizer.h"
#include "support/model_builder.h"

namespace heed::testing {
namespace {

void check(bool holds) {
  if (!holds) __builtin_trap();
}

// A WordPiece vocabulary in which texts take every way: whole words, parts of words, marks, ideographs, nothing.
AlignedBytes wordpiece_model() {
  tools::WordPieceSpec spec;
  spec.where = "fuzz";
  spec.pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "un", "##able", "e", "##e", "\xc3\xa9", ".", "'", "\xe4\xb8\xad", "\xea\xb0\x80", "\xe1\x84\x80"};
  for (char c = 'a'; c <= 'd'; ++c) spec.pieces.push_back(std::string("##") + c);
  spec.prefix = {2};
  spec.suffix = {3};
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 16, 8);
  builder.output("y", builder.node(schema::OpKind::Add, {x, x}));
  builder.model.tokenizer = std::make_unique<schema::TokenizerT>();
  tools::build_wordpiece(spec, *builder.model.tokenizer);
  return builder.finish();
}

AlignedBytes file_bytes(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  return AlignedBytes(bytes.begin(), bytes.end());
}

struct TextFile {
  explicit TextFile(AlignedBytes given) : bytes(std::move(given)) {
    check(heed_open(bytes.data(), bytes.size(), HEED_OPEN_CHECK_WEIGHTS, &model, nullptr) == HEED_OK);
  }
  AlignedBytes bytes;
  heed_model model;
};

void split(const heed_model& model, const char* text, size_t size, uint32_t most) {
  uint32_t count = 0;
  const heed_status counted = heed_tokenize(&model, text, size, most, nullptr, 0, &count);
  if (counted == HEED_INVALID_ARGUMENT) return;  // fewer tokens than the special ones
  check(counted == HEED_OK ? count == 0 : counted == HEED_BUFFER_TOO_SMALL);
  check(most == 0 || count <= most);
  std::vector<heed_token> tokens(count), few(count);
  check(heed_tokenize(&model, text, size, most, tokens.data(), count, &count) == HEED_OK && count == tokens.size());
  uint32_t begin = 0;  // of the last token that stands for something
  for (const heed_token& token : tokens) {
    uint32_t bytes = 0;
    check(heed_token_piece(&model, token.id, &bytes) != nullptr);
    check(token.begin <= token.end && token.end <= size);
    if (token.begin == token.end) continue;
    check(token.begin >= begin);
    begin = token.begin;
  }
  if (count > 0) {
    check(heed_tokenize(&model, text, size, most, few.data(), count - 1, &count) == HEED_BUFFER_TOO_SMALL);
    for (const heed_token& token : few) check(token.id == 0 && token.end == 0);
  }
}

void join(const heed_model& model, const uint8_t* data, size_t size) {
  std::vector<uint32_t> numbers(data, data + std::min<size_t>(size, 64));
  const heed_ids ids{numbers.data(), static_cast<uint32_t>(numbers.size()), nullptr};
  uint64_t needed = 0, again = 0;
  const heed_status status = heed_detokenize(&model, &ids, nullptr, 0, &needed);
  if (status != HEED_BUFFER_TOO_SMALL) return;
  std::string text(needed, ' ');
  check(heed_detokenize(&model, &ids, text.data(), needed, &again) == HEED_OK && again == needed);
}

}  // namespace
}  // namespace heed::testing

namespace heed::testing {
namespace {

// Made before the first input, which has a limit of time.
const std::vector<std::unique_ptr<TextFile>>& models() {
  static const auto files = [] {
    std::vector<std::unique_ptr<TextFile>> made;
    made.push_back(std::make_unique<TextFile>(wordpiece_model()));
    const char* words = std::getenv("HEED_FUZZ_WORDS");
    check(words != nullptr);
    made.push_back(std::make_unique<TextFile>(file_bytes(words)));
    return made;
  }();
  return files;
}

}  // namespace
}  // namespace heed::testing

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  heed::testing::models();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heed::testing;
  for (const auto& made : models()) {
    const TextFile& file = *made;
    const std::vector<char> text(data, data + size);  // exactly as long
    for (const uint32_t most : {0u, 1u, 5u}) split(file.model, text.data(), size, most);
    join(file.model, data, size);
  }
  return 0;
}
