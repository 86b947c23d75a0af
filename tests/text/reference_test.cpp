// heed's tokens against those of the reference library: texts in many scripts, and every code point there is.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "support/tokenizers.h"
#include "text/normalizer.h"
#include "text/utf8.h"

namespace heed::test {
namespace {

tools::NormalizerOptions options_of(const std::string& setting) {
  tools::NormalizerOptions options;
  if (setting == "cased") options.lowercase = options.strip_accents = false;
  if (setting == "keep_accents") options.strip_accents = false;
  if (setting == "strip_only") options.lowercase = false;
  if (setting == "raw") options.clean_text = options.handle_chinese_chars = false;
  return options;
}

TextModel reference_model(const std::string& setting) {
  tools::WordPieceSpec spec;
  spec.where = "vocab.txt";
  spec.pieces = read_lines(golden_folder() / "vocab.txt");
  spec.normalizer = options_of(setting);
  spec.prefix = {kBegin};
  spec.suffix = {kEnd};
  schema::TokenizerT tokenizer;
  tools::build_wordpiece(spec, tokenizer);
  return TextModel(tokenizer);
}

void hash(uint64_t& value, const uint8_t* bytes, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) value = (value ^ bytes[i]) * 0x100000001B3u;
}

// FNV-1a of all words that "a" + code point + "b" becomes, for each code point of a block.
uint64_t hash_of_block(const Normalizer& normalizer, uint32_t first) {
  uint64_t value = 0xCBF29CE484222325u;
  for (uint32_t c = first; c < first + 0x1000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    uint8_t text[6] = {'a'};
    uint32_t bytes = 1 + encode_utf8(c, text + 1);
    text[bytes++] = 'b';
    WordReader words(normalizer, text, bytes);
    for (Word word; words.next(word); hash(value, reinterpret_cast<const uint8_t*>("\n"), 1)) {
      for (uint32_t i = 0; i < word.count; ++i) {
        uint8_t letter[4];
        hash(value, letter, encode_utf8(code_point_of(word.characters[i]), letter));
      }
    }
    hash(value, reinterpret_cast<const uint8_t*>("\f"), 1);
  }
  return value;
}

TEST_CASE("Texts in many scripts have the tokens and spans of the reference tokenizer") {
  const std::string setting = GENERATE("uncased", "cased", "keep_accents", "strip_only", "raw");
  const TextModel model = reference_model(setting);
  size_t texts = 0;
  for (const auto& file : std::filesystem::directory_iterator(golden_folder())) {
    const std::string ending = "." + setting + ".ids";
    const std::string name = file.path().filename().string();
    if (name.size() < ending.size() || name.substr(name.size() - ending.size()) != ending) continue;
    const auto lines = read_lines(golden_folder() / (name.substr(0, name.size() - ending.size()) + ".txt"));
    const auto wanted = read_lines(file.path());
    REQUIRE(lines.size() == wanted.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      INFO(name << " line " << i + 1 << ": " << lines[i]);
      CHECK(shown(tokenize(model, unescaped(lines[i]))) == wanted[i]);
    }
    texts += lines.size();
  }
  CHECK(texts >= (setting == "uncased" ? 500 : 200));
}

TEST_CASE("Every code point between two letters gives the words of the reference tokenizer") {
  const std::string setting = GENERATE("uncased", "cased", "keep_accents", "strip_only", "raw");
  schema::TokenizerT tokenizer;
  tools::build_normalizer(options_of(setting), nullptr, tokenizer);
  const TextModel model(tokenizer);
  const Normalizer normalizer(model.table());
  const auto blocks = read_lines(golden_folder() / ("codepoints." + setting + ".txt"));
  CHECK(blocks.size() == 0x110);
  for (const std::string& line : blocks) {
    INFO(setting << " block " << line.substr(0, 6));
    CHECK(hash_of_block(normalizer, static_cast<uint32_t>(std::stoul(line.substr(0, 6), nullptr, 16))) ==
          std::stoull(line.substr(7), nullptr, 16));
  }
}

TEST_CASE("Leaving out of the normalizer what no piece can show changes no token") {
  tools::WordPieceSpec spec = spec_of({});
  spec.pieces = read_lines(golden_folder() / "vocab.txt");
  schema::TokenizerT small;
  tools::build_wordpiece(spec, small);
  schema::TokenizerT whole = small;
  tools::build_normalizer(spec.normalizer, nullptr, whole);
  REQUIRE(small.runs.size() < whole.runs.size());
  const TextModel with_small(small);
  const TextModel with_whole(whole);
  for (uint32_t c = 0; c < 0x110000; ++c) {
    uint8_t letter[4];
    const std::string one(reinterpret_cast<const char*>(letter), encode_utf8(c, letter));
    uint32_t counts[2];
    heed_token tokens[2][16];
    const std::string text = "a" + one + "b " + one;
    REQUIRE(heed_tokenize(&with_small.model(), text.data(), text.size(), 0, tokens[0], 16, &counts[0]) == HEED_OK);
    REQUIRE(heed_tokenize(&with_whole.model(), text.data(), text.size(), 0, tokens[1], 16, &counts[1]) == HEED_OK);
    const Tokens first(tokens[0], tokens[0] + counts[0]);
    const Tokens second(tokens[1], tokens[1] + counts[1]);
    if (shown(first) != shown(second)) FAIL("code point " << std::hex << c);
  }
}

}  // namespace
}  // namespace heed::test
