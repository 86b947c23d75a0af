// Tables that contradict themselves or lead outside: a status or a defined result, never a read outside.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <random>

#include "support/tokenizers.h"
#include "text/normalizer.h"

namespace heed::test {
namespace {

const char* const kText =
    "Unbelievable caf\xC3\xA9s, \xED\x95\x9C\xEA\xB8\x80 \xE4\xBD\xA0 \xD0\x96 \xEF\xAC\x83 \xF0\x9F\x98\x80 \xFF[SEP] "
    "\xE1\xB8\x9F"
    "a\xCC\x81";

schema::TokenizerT sound() {
  schema::TokenizerT tokenizer;
  tools::build_wordpiece(
      spec_of({"un", "##believ", "##able", "cafe", "##s", ",", "\xE1\x84\x92", "##\xE1\x85\xA1", "\xD0\xB6", "a"}),
      tokenizer);
  return tokenizer;
}

heed_status status_of(const schema::TokenizerT& tokenizer, Tokens* tokens = nullptr) {
  const TextModel model(tokenizer);
  Tokens room(256);
  uint32_t count = 0;
  const std::string text = kText;
  const heed_status status = heed_tokenize(&model.model(), text.data(), text.size(), 0, room.data(), 256, &count);
  room.resize(status == HEED_OK ? count : 0);
  for (const heed_token& token : room) {
    CHECK(token.begin <= token.end);
    CHECK(token.end <= text.size());
  }
  if (tokens) *tokens = room;
  return status;
}

TEST_CASE("A tokenizer without its vectors is corrupt, without its normalizer it takes letters as they are") {
  const schema::TokenizerT good = sound();
  REQUIRE(status_of(good) == HEED_OK);
  for (const auto member : {&schema::TokenizerT::slots, &schema::TokenizerT::piece_ends}) {
    schema::TokenizerT tokenizer = good;
    (tokenizer.*member).clear();
    CHECK(status_of(tokenizer) == HEED_CORRUPT);
  }
  schema::TokenizerT tokenizer = good;
  tokenizer.direct.clear();
  tokenizer.runs.clear();
  tokenizer.entries.clear();
  Tokens tokens;
  CHECK(status_of(tokenizer, &tokens) == HEED_OK);
  CHECK(shown(tokens) == "2:0:0 1:0:57 3:57:57");  // one long word of everything
  tokenizer.replacements.clear();
  CHECK(status_of(tokenizer) == HEED_OK);
}

TEST_CASE("TOK-22 Numbers of a tokenizer that do not fit each other are refused") {
  const schema::TokenizerT good = sound();
  const auto with = [&](auto change) {
    schema::TokenizerT tokenizer = good;
    change(tokenizer);
    return status_of(tokenizer);
  };
  CHECK(with([](auto& t) { t.vocabulary += 1; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.vocabulary = 0; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.vocabulary = 0xFFFFFFFFu; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.unknown = t.vocabulary; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.prefix = {t.vocabulary}; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.suffix = {0xFFFFFFFFu}; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.prefix.assign(100, 1); }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.slots.resize(t.slots.size() - 1); }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.max_word_chars = 101; }) == HEED_UNSUPPORTED);
  CHECK(with([](auto& t) { t.max_word_chars = 0; }) == HEED_OK);  // every word is unknown
  CHECK(with([](auto& t) { t.longest_piece = 0; }) == HEED_OK);
  CHECK(with([](auto& t) { t.longest_piece = 0xFFFFFFFFu; }) == HEED_OK);
}

TEST_CASE("A full hash table and an empty piece do not hold up the search") {
  schema::TokenizerT tokenizer = sound();
  tokenizer.slots.assign(8, 1);
  CHECK(status_of(tokenizer) == HEED_OK);
  for (uint32_t& slot : tokenizer.slots) slot = 0xFF000000u;  // an id of -1
  CHECK(status_of(tokenizer) == HEED_OK);
  tokenizer = sound();
  tokenizer.piece_ends.assign(tokenizer.piece_ends.size(), 0);
  tokenizer.continuing_prefix.clear();
  CHECK(status_of(tokenizer) == HEED_OK);
}

TEST_CASE("Random numbers anywhere in a tokenizer's vectors give a status or tokens inside the text") {
  const schema::TokenizerT good = sound();
  std::mt19937 random(1);
  int succeeded = 0;
  for (int round = 0; round < 3000; ++round) {
    schema::TokenizerT tokenizer = good;
    const auto number = [&] { return random() % 2 ? random() : random() % 64; };
    std::vector<uint32_t>* const vectors[] = {&tokenizer.piece_ends, &tokenizer.slots,        &tokenizer.runs,
                                              &tokenizer.entries,    &tokenizer.replacements, &tokenizer.prefix};
    for (int i = 0; i < 3; ++i) {
      std::vector<uint32_t>& vector = *vectors[random() % std::size(vectors)];
      for (uint32_t writes = 1 + random() % 8; writes > 0; --writes) vector[random() % vector.size()] = number();
    }
    if (random() % 3 == 0) tokenizer.direct[random() % tokenizer.direct.size()] = static_cast<uint16_t>(number());
    if (random() % 5 == 0) tokenizer.replacements.resize(random() % tokenizer.replacements.size());
    if (random() % 5 == 0) tokenizer.runs.resize(random() % tokenizer.runs.size());
    if (random() % 7 == 0) tokenizer.replacements.clear();
    succeeded += status_of(tokenizer) == HEED_OK;
  }
  CHECK(succeeded > 1500);
}

TEST_CASE("Replacements of the longest allowed length are taken, longer ones count as nothing") {
  schema::TokenizerT tokenizer = sound();
  tokenizer.entries = {pack_entry(CharacterKind::letter, CharacterForm::sequence, 0)};
  tokenizer.direct.assign(128, 0);
  tokenizer.replacements.assign(1 + kMaxReplacement, 'a');
  tokenizer.replacements[0] = kMaxReplacement;
  const TextModel model(tokenizer);
  Word word;
  const uint8_t text[] = {'x', 'y'};
  const Normalizer normalizer(model.table());
  WordReader reader(normalizer, text, 2);
  REQUIRE(reader.next(word));
  CHECK(word.count == 2 * kMaxReplacement);
  tokenizer.replacements[0] = kMaxReplacement + 1;
  const TextModel longer(tokenizer);
  const Normalizer other(longer.table());
  CHECK_FALSE(WordReader(other, text, 2).next(word));
}

}  // namespace
}  // namespace heed::test
