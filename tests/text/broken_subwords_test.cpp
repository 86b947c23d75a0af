// Subword tables with any bit wrong: refused by the verifier, a status, or tokens inside the text.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <random>

#include "convert/tokenizer_subwords.h"
#include "support/tokenizers.h"
#include "text/bpe.h"
#include "text/unigram.h"

namespace heed::test {
namespace {

const std::string kText =
    "Unbelievable caf\xC3\xA9s,\t \xED\x95\x9C\xEA\xB8\x80 \xE4\xBD\xA0 aaaaaaaaaaaaaaaaa \xEF\xAC\x83 \xF0\x9F\x98\x80 \xFF<a>  it's 12 "
    "\xE2\x96\x81\xE2\x96\x81 end  ";

// A small vocabulary with all that a table may have.
tools::SubwordSpec sound(schema::TokenizerKind kind, schema::SplitKind split) {
  tools::SubwordSpec spec;
  spec.where = "test";
  spec.kind = kind;
  spec.split = split;
  spec.unknown = 0;
  spec.pieces = {"<unk>"};
  for (int byte = 0; byte < 256 && split == schema::SplitKind::gpt2; ++byte) spec.pieces.emplace_back(1, static_cast<char>(byte));
  const auto first = static_cast<uint32_t>(spec.pieces.size());
  for (const char* piece : {"a", "b", "e", "be", "\xE2\x96\x81", "\xE2\x96\x81" "a", "aa", "aaaa", "able", "<a>"}) spec.pieces.emplace_back(piece);
  spec.scores.assign(spec.pieces.size(), -1.5f);
  if (kind == schema::TokenizerKind::bpe) {
    const uint32_t a = split == schema::SplitKind::gpt2 ? 1 + 'a' : first;
    spec.merges = {{a, a, 0, first + 6}, {first + 6, first + 6, 1, first + 7}};
  }
  schema::AddedTokenT added;
  added.text = "<a>";
  added.id = first + 9;
  added.rstrip = true;
  spec.added = {added};
  spec.collapse_spaces = spec.whole_text = spec.join_unknown = true;
  spec.trim_end = schema::TrimKind::spaces;
  if (split == schema::SplitKind::gpt2) {
    spec.collapse_spaces = false;
    spec.trim_end = schema::TrimKind::none;
  }
  spec.prefix_space = schema::PrefixSpace::unless_space;
  return spec;
}

schema::TokenizerT built(schema::TokenizerKind kind, schema::SplitKind split) {
  schema::TokenizerT table;
  tools::build_subwords(sound(kind, split), table);
  if (split != schema::SplitKind::gpt2) {  // a map of one character: U+FB03 becomes "ffi"
    table.charsmap.assign(1024, 0);
    table.charsmap_text = {'f', 'f', 'i', 0};
    const uint32_t first = 256 ^ 0xEF, second = 512 ^ 0xAC, third = 768 ^ 0x83;
    table.charsmap[0] = 256u << 10;
    table.charsmap[first] = (first ^ 512) << 10 | 0xEF;
    table.charsmap[second] = (second ^ 768) << 10 | 0xAC;
    table.charsmap[third] = (third ^ 900) << 10 | 0x83 | 0x100;
    table.charsmap[900] = 0x80000000u;
  }
  return table;
}

// True if the file may be opened and the text has tokens; whatever these are, they lie inside the text and the vocabulary.
bool harmless(const std::vector<uint8_t>& bytes, const std::string& text) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (!verifier.VerifyBuffer<schema::Model>(nullptr)) return false;
  heed_model model = {};
  model.root = ::flatbuffers::GetRoot<schema::Model>(bytes.data());
  Tokens room(2048);
  uint32_t count = 0;
  const heed_status status = heed_tokenize(&model, text.data(), text.size(), 0, room.data(), 2048, &count);
  if (status != HEED_OK) return false;
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < count; ++i) {
    REQUIRE(room[i].begin <= room[i].end);
    REQUIRE(room[i].end <= text.size());
    REQUIRE(room[i].id < static_cast<const schema::Model*>(model.root)->tokenizer()->vocabulary());
    ids.push_back(room[i].id);
  }
  const heed_ids list{ids.data(), count, nullptr};
  uint64_t needed = 0;
  std::string out(1 << 16, '#');
  heed_detokenize(&model, &list, out.data(), out.size(), &needed);
  return true;
}

constexpr std::pair<schema::TokenizerKind, schema::SplitKind> kKinds[] = {{schema::TokenizerKind::bpe, schema::SplitKind::gpt2},
                                                                          {schema::TokenizerKind::bpe, schema::SplitKind::space_runs},
                                                                          {schema::TokenizerKind::unigram, schema::SplitKind::spaces},
                                                                          {schema::TokenizerKind::unigram, schema::SplitKind::none}};

TEST_CASE("TOK-22 Every truncation and every changed bit of a subword table is refused or harmless") {
  const auto [kind, split] = kKinds[GENERATE(0, 1, 2, 3)];
  const std::vector<uint8_t> good = TextModel(built(kind, split)).bytes();
  REQUIRE(harmless(good, kText));
  for (size_t bytes = 0; bytes < good.size(); bytes += good.size() > 10000 ? 7 : 1) harmless(std::vector<uint8_t>(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)), kText);
  size_t survived = 0;
  for (size_t bit = 0; bit < 8 * good.size(); bit += good.size() > 10000 ? 7 : 1) {
    std::vector<uint8_t> changed = good;
    changed[bit / 8] = static_cast<uint8_t>(changed[bit / 8] ^ 1u << bit % 8);
    survived += harmless(changed, kText);
  }
  CHECK(survived > 1000);
}

TEST_CASE("Random numbers anywhere in a subword tokenizer's vectors give a status or tokens inside the text") {
  const auto [kind, split] = kKinds[GENERATE(0, 1, 2, 3)];
  const schema::TokenizerT good = built(kind, split);
  std::mt19937 random(1);
  for (int round = 0; round < 1500; ++round) {
    schema::TokenizerT table = good;
    const auto number = [&] { return random() % 2 ? random() : random() % 300; };
    std::vector<uint32_t>* const vectors[] = {&table.piece_ends, &table.slots, &table.merge_slots, &table.trie, &table.charsmap, &table.byte_pieces, &table.runs};
    for (int i = 0; i < 3; ++i) {
      std::vector<uint32_t>& vector = *vectors[random() % std::size(vectors)];
      for (uint32_t writes = 1 + random() % 8; writes > 0 && !vector.empty(); --writes) vector[random() % vector.size()] = number();
    }
    for (schema::Merge& merge : table.merges) {
      if (random() % 4 == 0) merge = schema::Merge(number(), merge.right(), number(), number());
    }
    if (random() % 3 == 0 && !table.scores.empty()) table.scores[random() % table.scores.size()] = random() % 2 ? __builtin_nanf("") : 1e30f;
    if (random() % 5 == 0) table.charsmap.resize(random() % (table.charsmap.size() + 1));
    if (random() % 5 == 0) table.trie.resize(random() % (table.trie.size() + 1));
    if (random() % 9 == 0) table.charsmap_text.clear();
    harmless(TextModel(table).bytes(), kText);
  }
}

TEST_CASE("A double array that leads in circles does not hold up a text") {
  schema::TokenizerT table = built(schema::TokenizerKind::unigram, schema::SplitKind::none);
  for (auto* array : {&table.trie, &table.charsmap}) {
    array->assign(256, 0);
    (*array)[0] = 0;                                       // base 0
    (*array)['a'] = uint32_t{'a'} << 10 | 'a' | 0x100;     // 'a' leads to base 0 again, and ends a string there
  }
  const TextModel model(table);
  std::string text(300000, 'a');
  uint32_t count = 0;
  CHECK(heed_tokenize(&model.model(), text.data(), text.size(), 0, nullptr, 0, &count) == HEED_BUFFER_TOO_SMALL);
}

TEST_CASE("Numbers of a subword tokenizer that do not fit each other are refused") {
  const auto with = [](schema::TokenizerKind kind, schema::SplitKind split, auto change) {
    schema::TokenizerT table = built(kind, split);
    change(table);
    const TextModel model(table);
    uint32_t count = 0;
    Tokens room(2048);
    return heed_tokenize(&model.model(), kText.data(), kText.size(), 0, room.data(), 2048, &count);
  };
  using Kind = schema::TokenizerKind;
  using Split = schema::SplitKind;
  CHECK(with(Kind::bpe, Split::gpt2, [](auto&) {}) == HEED_OK);
  CHECK(with(Kind::bpe, Split::gpt2, [](auto& t) { t.byte_pieces.pop_back(); }) == HEED_CORRUPT);
  CHECK(with(Kind::bpe, Split::gpt2, [](auto& t) { t.byte_pieces.clear(); }) == HEED_CORRUPT);
  CHECK(with(Kind::bpe, Split::gpt2, [](auto& t) { t.byte_pieces[7] = t.vocabulary; }) == HEED_CORRUPT);
  CHECK(with(Kind::bpe, Split::gpt2, [](auto& t) { t.merge_slots.pop_back(); }) == HEED_CORRUPT);
  CHECK(with(Kind::bpe, Split::gpt2, [](auto& t) { t.slots.clear(); }) == HEED_CORRUPT);
  CHECK(with(Kind::bpe, Split::spaces, [](auto& t) { t.unknown = t.vocabulary; }) == HEED_CORRUPT);
  CHECK(with(Kind::bpe, Split::spaces, [](auto& t) { t.split = static_cast<Split>(9); }) == HEED_UNSUPPORTED);
  CHECK(with(Kind::bpe, Split::spaces, [](auto& t) { t.added[0]->id = t.vocabulary; }) == HEED_CORRUPT);
  CHECK(with(Kind::bpe, Split::spaces, [](auto& t) { t.added[0]->text.clear(); }) == HEED_CORRUPT);
  CHECK(with(Kind::bpe, Split::spaces, [](auto& t) { t.added[0]->single_word = true; }) == HEED_UNSUPPORTED);
  CHECK(with(Kind::unigram, Split::spaces, [](auto&) {}) == HEED_OK);
  CHECK(with(Kind::unigram, Split::spaces, [](auto& t) { t.scores.pop_back(); }) == HEED_CORRUPT);
  CHECK(with(Kind::unigram, Split::spaces, [](auto& t) { t.scores.clear(); }) == HEED_CORRUPT);
  CHECK(with(Kind::unigram, Split::spaces, [](auto& t) { t.unknown = 0xFFFFFFFFu; }) == HEED_CORRUPT);
  CHECK(with(Kind::unigram, Split::spaces, [](auto& t) { t.longest_piece = 129; }) == HEED_UNSUPPORTED);
  CHECK(with(Kind::unigram, Split::spaces, [](auto& t) { t.prefix_space = static_cast<schema::PrefixSpace>(9); }) == HEED_UNSUPPORTED);
  CHECK(with(Kind::bpe, Split::gpt2, [](auto& t) { t.kind = Kind::unigram, t.scores.assign(t.vocabulary, 0.0f); }) == HEED_UNSUPPORTED);
}

}  // namespace
}  // namespace heed::test
