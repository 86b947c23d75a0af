// Word tokens of English and French against golden files made from the rules, and tokens joined to texts again.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include "error.h"
#include "support/tokenizers.h"

namespace heed::test {
namespace {

namespace fs = std::filesystem;
using schema::ApostropheKind;

fs::path words_folder() { return fs::path(HEED_SOURCE_DIR) / "tests/golden/words"; }

schema::TokenizerT rules_of(const std::string& language) {
  schema::TokenizerT table;
  table.kind = schema::TokenizerKind::word;
  const bool french = language == "french";
  table.apostrophe = french ? ApostropheKind::ends : ApostropheKind::begins;
  table.closing = french ? ".," : ".,!?;:";
  table.endings = {"n't"};
  if (french) {
    table.endings = {"-moi", "-le", "-la", "-les", "-lui", "-leur", "-nous", "-toi", "-l\xC3\xA0"};
    table.prefix = {1};
    table.suffix = {2};
  }
  return table;
}

schema::TokenizerT table_of(const std::string& language) {
  schema::TokenizerT table = rules_of(language);
  tools::build_words(words_folder() / (language + ".pieces"), table);
  return table;
}

TextModel model_of(const std::vector<std::string>& pieces, schema::TokenizerT table) {
  const TemporaryFolder folder;
  std::string lines;
  for (const std::string& piece : pieces) lines += piece + "\n";
  folder.write("pieces", lines);
  tools::build_words(folder.path() / "pieces", table);
  return TextModel(table);
}

// Without special tokens.
std::string shown_text(const TextModel& model, const std::string& text) {
  Tokens tokens = tokenize(model, text);
  const auto special = [&](const heed_token& token) { return token.begin == token.end; };
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(), special), tokens.end());
  return shown(tokens);
}

std::string joined(const TextModel& model, const std::vector<uint32_t>& ids, const std::vector<heed_span>& copies = {}) {
  const heed_ids list{ids.data(), static_cast<uint32_t>(ids.size()), copies.empty() ? nullptr : copies.data()};
  uint64_t bytes = 77;
  const heed_status counted = heed_detokenize(&model.model(), &list, nullptr, 0, &bytes);
  REQUIRE(counted == (bytes == 0 ? HEED_OK : HEED_BUFFER_TOO_SMALL));
  std::string text(bytes, '#');
  REQUIRE(heed_detokenize(&model.model(), &list, text.data(), bytes, &bytes) == HEED_OK);
  return text;
}

std::vector<uint32_t> ids_of(const TextModel& model, const std::string& text) {
  std::vector<uint32_t> ids;
  for (const heed_token& token : tokenize(model, text)) ids.push_back(token.id);
  return ids;
}

TEST_CASE("Texts of two languages have the tokens and spans that the rules give") {
  const std::string language = GENERATE("english", "french");
  const TextModel model(table_of(language));
  const auto texts = read_lines(words_folder() / (language + ".txt"));
  const auto wanted = read_lines(words_folder() / (language + ".ids"));
  REQUIRE(texts.size() == wanted.size());
  CHECK(texts.size() >= 500);
  for (size_t i = 0; i < texts.size(); ++i) {
    INFO(language << " line " << i + 1 << ": " << texts[i]);
    CHECK(shown_text(model, unescaped(texts[i])) == wanted[i]);
  }
}

TEST_CASE("A sentence joined from its tokens is the sentence") {
  const bool french = GENERATE(false, true);
  const std::string language = french ? "french" : "english";
  schema::TokenizerT table = rules_of(language);
  tools::build_words(fs::path(HEED_SOURCE_DIR) / "tools/samples/translator/additive" / (french ? "target.txt" : "source.txt"), table);
  const TextModel model(table);
  const auto texts = read_lines(words_folder() / (language + ".txt"));
  size_t joined_count = 0;
  for (size_t i = 0; i < 250; ++i) {  // the sentences
    const std::string text = unescaped(texts[i]);
    const std::vector<uint32_t> ids = ids_of(model, text);
    if (std::find(ids.begin(), ids.end(), 0u) != ids.end()) continue;
    CHECK(joined(model, ids) == text);
    ++joined_count;
  }
  CHECK(joined_count >= 200);
}

TEST_CASE("Spaces stand where a person writes them") {
  const TextModel french = model_of({"<unk>", "<s>", "</s>", "t'", "aime", "je", "-moi", "regarde", ".", ",", "?", "!", "\xC3\xA9t\xC3\xA9"}, rules_of("french"));
  CHECK(joined(french, {1, 5, 3, 4, 8, 2}) == "je t'aime.");
  CHECK(joined(french, {7, 6, 9, 5, 3, 4, 11}) == "regarde-moi, je t'aime !");
  CHECK(joined(french, {12, 10}) == "\xC3\xA9t\xC3\xA9 ?");
  CHECK(joined(french, {3}) == "t'");
  CHECK(joined(french, {6, 8}) == "-moi.");
  CHECK(joined(french, {}) == "");
  CHECK(joined(french, {1, 2}) == "");
  const TextModel english = model_of({"<unk>", "do", "n't", "you", "'ll", "?", "stop", "!"}, rules_of("english"));
  CHECK(joined(english, {1, 2, 3, 5}) == "don't you?");
  CHECK(joined(english, {3, 4, 6, 7}) == "you'll stop!");
}

TEST_CASE("A copy takes the place of its token, with the same spaces") {
  const TextModel french = model_of({"<unk>", "<s>", "</s>", "l'", "je", "vois"}, rules_of("french"));
  const std::string name = "Xavier";
  const std::string elided = "d'";
  const std::string nothing;
  const heed_span none{nullptr, 0};
  CHECK(joined(french, {4, 5, 0}) == "je vois <unk>");
  CHECK(joined(french, {4, 5, 0}, {none, none, {name.data(), 6}}) == "je vois Xavier");
  CHECK(joined(french, {3, 0, 0, 5}, {none, {elided.data(), 2}, {name.data(), 6}, none}) == "l'd'Xavier vois");
  CHECK(joined(french, {4, 0, 5}, {none, {nothing.data(), 0}, none}) == "je vois");
}

TEST_CASE("TOK-14 A special token spelled in a text is an unknown word") {
  const TextModel french = model_of({"<unk>", "<s>", "</s>", "je"}, rules_of("french"));
  CHECK(shown(tokenize(french, "<s> je </s> <unk>")) == "1:0:0 0:0:3 3:4:6 0:7:11 0:12:17 2:17:17");
  CHECK(heed_unknown_token(&french.model(), HEED_SOURCE) == 0);
  CHECK(heed_unknown_token(&french.model(), HEED_TARGET) == 0);
}

TEST_CASE("Capitals are folded only where no piece has one") {
  CHECK(shown(tokenize(model_of({"<unk>", "anna"}, rules_of("english")), "ANNA Anna")) == "1:0:4 1:5:9");
  CHECK(shown(tokenize(model_of({"<unk>", "Anna"}, rules_of("english")), "ANNA Anna anna")) == "0:0:4 1:5:9 0:10:14");
}

TEST_CASE("TOK-23 A text that does not fit is left alone, and its length is reported") {
  const TextModel french = model_of({"<unk>", "<s>", "</s>", "t'", "aime", "je"}, rules_of("french"));
  const std::vector<uint32_t> ids = {5, 3, 4};
  const heed_ids list{ids.data(), 3, nullptr};
  for (uint64_t capacity = 0; capacity <= 12; ++capacity) {
    std::string text(16, '#');
    uint64_t bytes = 77;
    const heed_status status = heed_detokenize(&french.model(), &list, text.data(), capacity, &bytes);
    CHECK(bytes == 9);
    CHECK(status == (capacity < 9 ? HEED_BUFFER_TOO_SMALL : HEED_OK));
    CHECK(text == (capacity < 9 ? "################" : "je t'aime#######"));
  }
}

TEST_CASE("TOK-22 Ids outside the vocabulary and missing arguments are refused") {
  const TextModel french = model_of({"<unk>", "<s>", "</s>"}, rules_of("french"));
  uint64_t bytes = 77;
  char text[8];
  uint32_t id = 3;
  heed_ids list{&id, 1, nullptr};
  CHECK(heed_detokenize(&french.model(), &list, text, 8, &bytes) == HEED_BAD_INPUT);
  CHECK(bytes == 0);
  id = 0;
  CHECK(heed_detokenize(&french.model(), &list, text, 8, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_detokenize(nullptr, &list, text, 8, &bytes) == HEED_INVALID_ARGUMENT);
  CHECK(heed_detokenize(&french.model(), nullptr, text, 8, &bytes) == HEED_INVALID_ARGUMENT);
  CHECK(heed_detokenize(&french.model(), &list, nullptr, 8, &bytes) == HEED_INVALID_ARGUMENT);
  list.ids = nullptr;
  CHECK(heed_detokenize(&french.model(), &list, text, 8, &bytes) == HEED_INVALID_ARGUMENT);
  list.ids = &id;
  CHECK(heed_detokenize(&TextModel({"one"}).model(), &list, text, 8, &bytes) == HEED_UNSUPPORTED);
  CHECK(heed_unknown_token(nullptr, HEED_TARGET) == HEED_NO_TOKEN);
}

TEST_CASE("TOK-22 A vocabulary that contradicts itself is refused by line") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& lines) -> std::string {
    folder.write("pieces", lines);
    schema::TokenizerT table = rules_of("french");
    try {
      tools::build_words(folder.path() / "pieces", table);
    } catch (const tools::Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refusal(""), Catch::Contains("0 pieces"));
  CHECK_THAT(refusal("<unk>\n<s>\n"), Catch::Contains("has 2 pieces, but a special one is 2"));
  CHECK_THAT(refusal("<unk>\n<s>\n</s>\nje\n\ntu\n"), Catch::Contains("line 5 is empty"));
  CHECK_THAT(refusal("<unk>\n<s>\n</s>\nje\ntu\nje\n"), Catch::Contains("line 6 repeats line 4, 'je'"));
  CHECK(refusal("<unk>\n<s>\n</s>\nje\n") == "");
}

}  // namespace
}  // namespace heed::test
