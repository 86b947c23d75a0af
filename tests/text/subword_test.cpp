// Subwords through the C API: added and special tokens, whole words, long texts, buffers, pieces of bytes.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <chrono>
#include <cstring>

#include "convert/tokenizer_subwords.h"
#include "error.h"
#include "support/tokenizers.h"
#include "text/units.h"
#include "text/vocabulary.h"

namespace heed::test {
namespace {

using schema::SplitKind;
using schema::TokenizerKind;

std::filesystem::path golden(const char* name) { return std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/subwords" / name; }

TextModel model_of(const char* name, const char* model_type) {
  schema::TokenizerT table;
  tools::build_tokenizer(golden(name), model_type, table);
  return TextModel(table);
}

schema::TokenizerT built(const tools::SubwordSpec& spec) {
  schema::TokenizerT table;
  tools::build_subwords(spec, table);
  return table;
}

// 256 pieces of one byte, then these; each merge is of two ids.
tools::SubwordSpec bytes_of(const std::vector<std::string>& pieces, const std::vector<std::pair<uint32_t, uint32_t>>& merges) {
  tools::SubwordSpec spec;
  spec.where = "test";
  spec.split = SplitKind::gpt2;
  for (int byte = 0; byte < 256; ++byte) spec.pieces.emplace_back(1, static_cast<char>(byte));
  spec.pieces.insert(spec.pieces.end(), pieces.begin(), pieces.end());
  for (const auto& [left, right] : merges) {
    const std::string joined = spec.pieces[left] + spec.pieces[right];
    for (uint32_t id = 0; id < spec.pieces.size(); ++id) {
      if (spec.pieces[id] == joined) spec.merges.emplace_back(left, right, static_cast<uint32_t>(spec.merges.size()), id);
    }
  }
  return spec;
}

tools::SubwordSpec unigram_of(const std::vector<std::pair<std::string, float>>& pieces) {
  tools::SubwordSpec spec;
  spec.where = "test";
  spec.kind = TokenizerKind::unigram;
  spec.pieces = {"<unk>"};
  spec.scores = {0};
  spec.unknown = 0;
  spec.join_unknown = spec.whole_text = true;
  for (const auto& [piece, score] : pieces) {
    spec.pieces.push_back(piece);
    spec.scores.push_back(score);
  }
  return spec;
}

schema::AddedTokenT added(const std::string& text, uint32_t id, bool special = false) {
  schema::AddedTokenT token;
  token.text = text;
  token.id = id;
  token.special = special;
  return token;
}

std::string joined(const TextModel& model, const std::vector<uint32_t>& ids) {
  const heed_ids list{ids.data(), static_cast<uint32_t>(ids.size()), nullptr};
  std::string text(4096, '#');
  uint64_t bytes = 0;
  REQUIRE(heed_detokenize(&model.model(), &list, text.data(), text.size(), &bytes) == HEED_OK);
  return text.substr(0, bytes);
}

std::string ids_of(const TextModel& model, const std::string& text) {
  std::string ids;
  for (const heed_token& token : tokenize(model, text)) ids += (ids.empty() ? "" : " ") + std::to_string(token.id);
  return ids;
}

TEST_CASE("TOK-09 A word that is a piece is looked up before merging where the file says so, and only then if merging gives it too") {
  // "ab" and "cd" merge, "bc" first; "abcd" is a piece that no merge makes.
  tools::SubwordSpec spec = bytes_of({"bc", "ab", "abcd", " abcd"}, {{'b', 'c'}, {'a', 'b'}});
  CHECK(ids_of(TextModel(built(spec)), "abcd") == "97 256 100");
  CHECK(ids_of(TextModel(built(spec)), "ab") == "257");
  spec.ignore_merges = true;
  CHECK(ids_of(TextModel(built(spec)), "abcd") == "258");
  CHECK(ids_of(TextModel(built(spec)), "ab abcd abcde") == "257 259 32 97 256 100 101");
  spec.prefix_space = schema::PrefixSpace::unless_space;
  CHECK(ids_of(TextModel(built(spec)), "abcd") == "259");
}

TEST_CASE("TOK-14 Special tokens spelled in a text are plain text") {
  for (const auto& [name, type] : {std::pair{"t5", "t5"}, {"marian", "marian"}, {"bytes_bart", "bart"}}) {
    const TextModel model = model_of(name, type);
    const auto* suffix = model.table().suffix();
    const std::string text = "a </s> <s> <pad> <unk> <extra_id_0></s>";
    const Tokens tokens = tokenize(model, text);
    REQUIRE(tokens.size() > 8);
    for (size_t i = 1; i + 1 < tokens.size(); ++i) {
      for (const schema::AddedToken* one : *model.table().added()) CHECK((!one->special() || tokens[i].id != one->id()));
      CHECK(tokens[i].id != suffix->Get(0));
    }
    CHECK(tokens.back().id == suffix->Get(0));
  }
}

TEST_CASE("TOK-15 Added tokens that are not special are found, the longest first, with the white space that they take") {
  tools::SubwordSpec spec = bytes_of({"<a>", "<a><b>", "<m>", "<e>"}, {});
  spec.added = {added("<a>", 256), added("<a><b>", 257), added("<m>", 258), added("<e>", 259, true)};
  spec.added[2].lstrip = true;
  const auto tokens = [&](const std::string& text) { return shown(tokenize(TextModel(built(spec)), text)); };
  CHECK(tokens("x<a>y") == "120:0:1 256:1:4 121:4:5");
  CHECK(tokens("<a><b><a>") == "257:0:6 256:6:9");
  CHECK(tokens("<a <e>") == "60:0:1 97:1:2 32:2:3 60:3:4 101:4:5 62:5:6");
  CHECK(tokens("x \t<m> y") == "120:0:1 258:1:6 32:6:7 121:7:8");
  spec.added[0].rstrip = true;
  CHECK(tokens("X<a>Y") == "88:0:1 256:1:4 89:4:5");  // it takes spaces that follow, and needs none
  CHECK(tokens("X<a> \xE2\x80\x83Y") == "88:0:1 256:1:8 89:8:9");
  CHECK(tokens("<a> <m>") == "256:0:4 258:4:7");
  CHECK(tokens("") == "");
  spec.added[0].single_word = true;
  CHECK_THROWS_WITH(built(spec), Catch::Contains("'<a>' has \"single_word\""));
}

TEST_CASE("TOK-15 An added token of WordPiece is looked for in the normalized text if its flag says so") {
  tools::WordPieceSpec spec = spec_of({"day", "yester", "##day", "yesterday"});
  spec.added = {added("yesterday", 7), added("Day!", 8)};
  spec.pieces.push_back("Day!");
  const auto found = [&](const std::string& text) {
    schema::TokenizerT table;
    tools::build_wordpiece(spec, table);
    return shown(tokenize(TextModel(table), text));
  };
  CHECK(found("xYesterday day!") == "2:0:0 1:0:10 4:11:14 1:14:15 3:15:15");
  spec.added[0].normalized = true;
  CHECK(found("xYesterd\xC3\xA1y") == "2:0:0 1:0:1 7:1:11 3:11:11");
  CHECK(found("day Day! day") == "2:0:0 4:0:3 8:4:8 4:9:12 3:12:12");
}

TEST_CASE("TOK-21 Long words and long texts take time in proportion to their length") {
  const auto seconds = [](const TextModel& model, const std::string& text) {
    const auto start = std::chrono::steady_clock::now();
    uint32_t count = 0;
    CHECK(heed_tokenize(&model.model(), text.data(), text.size(), 0, nullptr, 0, &count) == HEED_BUFFER_TOO_SMALL);
    CHECK(count > 0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (const auto& [name, type] : {std::pair{"t5", "t5"}, {"sentence_bpe", "graph"}, {"bytes", "gpt2"}}) {
    const TextModel model = model_of(name, type);
    std::string words;
    for (int i = 0; i < 10000; ++i) words += i % 7 == 0 ? "unbelievable " : "the ";
    CHECK(seconds(model, words) < 5);
    std::string symbols;  // U+2581, which might all be cut off the end
    for (int i = 0; i < 20000; ++i) symbols += "\xE2\x96\x81";
    // A word a hundred times as long takes a hundred times as long; if it were the square, this would take hours.
    for (const std::string& text : {std::string(1000000, 'a'), symbols + "x"}) CHECK(seconds(model, text) < 20);
  }
}

TEST_CASE("TOK-21 A text is cut to a number of tokens, and its special tokens stay") {
  const TextModel model = model_of("t5", "t5");
  const std::string text(100000, 'x');
  const Tokens whole = tokenize(model, text);
  for (const uint32_t most : {1u, 2u, 3u, 300u}) {
    const Tokens cut = tokenize(model, text, most);
    REQUIRE(cut.size() == most);
    for (uint32_t i = 0; i + 1 < most; ++i) CHECK(cut[i].id == whole[i].id);
    CHECK(cut.back().id == 1);
  }
}

TEST_CASE("TOK-23 Subwords that do not fit are left alone, and their number is reported") {
  const TextModel model = model_of("bytes_bart", "bart");
  const std::string text = "\xF0\x9F\x98\x80 we don't";
  const Tokens wanted = tokenize(model, text);
  for (uint32_t capacity = 0; capacity <= wanted.size() + 1; ++capacity) {
    Tokens tokens(wanted.size() + 2, heed_token{99, 99, 99});
    uint32_t count = 77;
    const heed_status status = heed_tokenize(&model.model(), text.data(), text.size(), 0, tokens.data(), capacity, &count);
    CHECK(count == wanted.size());
    CHECK(status == (capacity < wanted.size() ? HEED_BUFFER_TOO_SMALL : HEED_OK));
    for (size_t i = 0; i < tokens.size(); ++i) CHECK(tokens[i].id == (status == HEED_OK && i < wanted.size() ? wanted[i].id : 99));
  }
  std::vector<uint32_t> ids;
  for (const heed_token& token : wanted) ids.push_back(token.id);
  const heed_ids list{ids.data(), static_cast<uint32_t>(ids.size()), nullptr};
  for (uint64_t capacity = 0; capacity <= text.size() + 1; ++capacity) {
    std::string out(text.size() + 2, '#');
    uint64_t bytes = 77;
    CHECK(heed_detokenize(&model.model(), &list, out.data(), capacity, &bytes) == (capacity < text.size() ? HEED_BUFFER_TOO_SMALL : HEED_OK));
    CHECK(bytes == text.size());
    CHECK(out == (capacity < text.size() ? std::string(text.size() + 2, '#') : text + "##"));
  }
}

TEST_CASE("A text that is written as its tokens come never ends inside a character") {
  const TextModel model = model_of("bytes_bart", "bart");
  const std::string text = "na\xC3\xAFve \xF0\x9F\x98\x80\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD \xE4\xB8\xAD";
  std::vector<uint32_t> ids;
  std::string before, shown_text;
  for (const heed_token& token : tokenize(model, text)) {
    ids.push_back(token.id);
    const std::string now = joined(model, ids);
    CHECK(now.substr(0, before.size()) == before);
    const uint64_t whole = heed_whole_characters(now.data(), now.size());
    CHECK(whole >= shown_text.size());
    shown_text = now.substr(0, whole);
    CHECK((shown_text.size() == text.size() || (static_cast<uint8_t>(text[shown_text.size()]) & 0xC0) != 0x80));
    before = now;
  }
  CHECK(shown_text == text);
}

TEST_CASE("Whole characters: parts of one that may still come are not counted, what is wrong is") {
  const auto whole = [](const std::string& text) { return heed_whole_characters(text.data(), text.size()); };
  CHECK(whole("") == 0);
  CHECK(heed_whole_characters(nullptr, 0) == 0);
  CHECK(whole("a") == 1);
  CHECK(whole("a\xC3") == 1);
  CHECK(whole("a\xC3\xA9") == 3);
  CHECK(whole("\xE4\xB8") == 0);
  CHECK(whole("\xE4\xB8\xAD") == 3);
  CHECK(whole("x\xF0\x9F\x98") == 1);
  CHECK(whole("x\xF0\x9F\x98\x80") == 5);
  CHECK(whole("\x80\x80\x80\x80") == 4);
  CHECK(whole("\xFF") == 1);
  CHECK(whole("\xC0") == 1);
  CHECK(whole("\xE0\x80") == 2);  // overlong: no third byte makes it a character
}

TEST_CASE("Unigram takes the best sum, and of equal ones the longest last piece") {
  tools::SubwordSpec spec = unigram_of({{"a", -2}, {"b", -2}, {"ab", -3}, {"bc", -2.5f}, {"c", -3}, {"abcd", -20}});
  CHECK(ids_of(TextModel(built(spec)), "ab") == "3");
  CHECK(ids_of(TextModel(built(spec)), "abc") == "1 4");   // -4.5 against -6 and -7
  CHECK(ids_of(TextModel(built(spec)), "abcd") == "6");    // -20 against -34.5, since d is unknown: 10 below the lowest score
  CHECK(ids_of(TextModel(built(spec)), "abce") == "1 4 0");
  CHECK(ids_of(TextModel(built(unigram_of({{"a", -1}, {"aa", -1.5f}}))), "aaa") == "1 2");
  CHECK(shown(tokenize(TextModel(built(spec)), "a\xC3\xA9zb")) == "1:0:1 0:1:4 2:4:5");  // neighbours are one unknown token
}

TEST_CASE("Pieces that vocab.json lacks are the unknown token, and unknown characters are looked up whole in it") {
  tools::SubwordSpec spec = unigram_of({{"a", -1}, {"xy", 0}, {"x", 0}});
  spec.listed = {false, true, false, false};  // the other model's pieces
  spec.unlisted = {{"b", -1.0f}};
  const TextModel model(built(spec));
  CHECK(ids_of(model, "ab") == "1 0");
  CHECK(ids_of(model, "aba") == "1 0 1");
  CHECK(ids_of(model, "abb") == "1 0 0");     // two pieces of the model, so two tokens
  CHECK(ids_of(model, "axya") == "1 2 1");    // unknown to the model, but a piece
  CHECK(ids_of(model, "axyxa") == "1 0 1");
  CHECK(ids_of(model, "ax") == "1 3");
}

TEST_CASE("TOK-13 Spaces collapse, the map of characters is applied, and what stands before a text comes first") {
  const TextModel model = model_of("t5", "t5");
  const std::string plain = ids_of(model, "A fi x");
  CHECK(ids_of(model, "  \xEF\xBC\xA1   \xEF\xAC\x81 x  ") == plain);
  schema::TokenizerT table;
  tools::SubwordSpec spec = tools::read_sentencepiece(golden("t5") / "spiece.model", "t5");
  spec.prefix = {5};
  tools::build_subwords(spec, table);
  CHECK(ids_of(TextModel(table), "A fi x") == "5 " + plain);
}

TEST_CASE("A model of subwords says what it has no piece for, and text that is joined shows it") {
  const TextModel model(built(unigram_of({{"\xE2\x96\x81" "a", -1}, {"b", -1}})));
  CHECK(heed_unknown_token(&model.model(), HEED_SOURCE) == 0);
  CHECK(joined(model, {2, 0, 1}) == "b \xE2\x81\x87  a");
  const TextModel bytes(built(bytes_of({}, {})));
  CHECK(heed_unknown_token(&bytes.model(), HEED_SOURCE) == HEED_NO_TOKEN);
  const heed_span copy{"word", 4};
  const uint32_t id = 'x';
  const heed_ids list{&id, 1, &copy};
  char text[8];
  uint64_t count = 0;
  CHECK(heed_detokenize(&bytes.model(), &list, text, 8, &count) == HEED_OK);
  CHECK(std::string(text, count) == "word");
}

}  // namespace
}  // namespace heed::test
