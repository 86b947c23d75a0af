// The converter's reading of subword files: what is refused, by name, and with what to do next.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

#include "convert/json.h"
#include "convert/tokenizer_subwords.h"
#include "convert/tokenizer_trie.h"
#include "error.h"
#include "support/tokenizers.h"
#include "text/trie.h"

namespace heed::test {
namespace {

using Catch::Contains;
using tools::Json;

std::filesystem::path golden(const std::string& name) { return std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/subwords" / name; }

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string refusal(const TemporaryFolder& folder, const char* model_type = "graph") {
  schema::TokenizerT table;
  try {
    tools::build_tokenizer(folder.path(), model_type, table);
  } catch (const tools::Error& error) {
    return error.what();
  }
  return "accepted";
}

// A byte-level tokenizer.json of 256 pieces and "he".
Json byte_level() {
  Json json = tools::parse_json(bytes_of(golden("bytes") / "tokenizer.json"), "tokenizer.json");
  Json vocabulary = Json::object();
  for (const auto& [piece, id] : json["model"]["vocab"].items()) {
    if (id < 256) vocabulary[piece] = id;
  }
  vocabulary["he"] = 256;
  json["model"]["vocab"] = vocabulary;
  json["model"]["merges"] = {"h e"};
  return json;
}

Json unigram() {
  return {{"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", Json::array({Json::array({"<unk>", 0.0}), Json::array({"\xE2\x96\x81" "a", -1.5}), Json::array({"b", -2.0})})}}},
          {"pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "\xE2\x96\x81"}, {"prepend_scheme", "always"}}}};
}

std::string refusal(const Json& json) {
  const TemporaryFolder folder;
  folder.write("tokenizer.json", json.dump());
  return refusal(folder);
}
std::string refusal(Json json, const char* pointer, const Json& value) {
  json[Json::json_pointer(pointer)] = value;
  return refusal(json);
}

TEST_CASE("TOK-12 A pattern, a normalizer or a step that heed does not have is refused by name") {
  CHECK(refusal(byte_level()) == "accepted");
  const Json pattern = {{"type", "Split"}, {"pattern", {{"Regex", "\\d"}}}, {"behavior", "Isolated"}, {"invert", false}};
  CHECK_THAT(refusal(byte_level(), "/pre_tokenizer", pattern), Contains("the step 'Split'"));
  CHECK_THAT(refusal(byte_level(), "/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {pattern, {{"type", "ByteLevel"}}}}}), Contains("the step 'Split'"));
  CHECK_THAT(refusal(byte_level(), "/pre_tokenizer/use_regex", false), Contains("use_regex"));
  CHECK_THAT(refusal(byte_level(), "/pre_tokenizer", nullptr), Contains("nothing says where"));
  CHECK_THAT(refusal(byte_level(), "/normalizer", {{"type", "NFC"}}), Contains("the step 'NFC'"));
  CHECK_THAT(refusal(byte_level(), "/model/dropout", 0.1), Contains("dropout"));
  CHECK_THAT(refusal(byte_level(), "/model/end_of_word_suffix", "</w>"), Contains("end_of_word_suffix"));
  CHECK_THAT(refusal(byte_level(), "/model/type", "WordLevel"), Contains("the model 'WordLevel'"));
  CHECK_THAT(refusal(byte_level(), "/decoder", {{"type", "BPEDecoder"}}), Contains("the step 'BPEDecoder'"));
  CHECK_THAT(refusal(byte_level(), "/model/merges", {"h zz"}), Contains("not a merge of two pieces"));
  CHECK_THAT(refusal(byte_level(), "/model/merges", {"e h"}), Contains("merged to what is not in the vocabulary"));
  CHECK_THAT(refusal(byte_level(), "/shape", 1), Contains("shape"));
  CHECK(refusal(unigram()) == "accepted");
  CHECK_THAT(refusal(unigram(), "/model/unk_id", nullptr), Contains("\"unk_id\" is missing"));
  CHECK_THAT(refusal(unigram(), "/model/unk_id", 3), Contains("\"unk_id\" is 3"));
  CHECK_THAT(refusal(unigram(), "/model/vocab/1", Json::array({"x"})), Contains("is not a piece with its score"));
  CHECK_THAT(refusal(unigram(), "/pre_tokenizer/replacement", "_"), Contains("replacement"));
  CHECK_THAT(refusal(unigram(), "/normalizer", {{"type", "Lowercase"}}), Contains("the step 'Lowercase'"));
  CHECK_THAT(refusal(unigram(), "/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "AAAA"}}), Contains("the file is damaged"));
  CHECK_THAT(refusal(unigram(), "/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "?"}}), Contains("not base64"));
  CHECK_THAT(refusal(unigram(), "/normalizer", {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "b"}}), Contains("replaces 'a' by 'b'"));
}

TEST_CASE("TOK-20 Pieces of bytes have two hexadecimal digits, each byte once, all of them or none") {
  Json json = unigram();
  json["model"]["byte_fallback"] = true;
  const auto with = [&](const std::function<void(Json&)>& change) {
    Json all = json;
    const char* digits = "0123456789ABCDEF";
    for (int byte = 0; byte < 256; ++byte) all["model"]["vocab"].push_back(Json::array({std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">", 0.0}));
    change(all["model"]["vocab"]);
    return refusal(all);
  };
  CHECK(with([](Json&) {}) == "accepted");
  for (const char* wrong : {"<0x-1>", "<0x-f>", "<0xZZ>", "<0x100>", "<0x4>"}) {
    CHECK_THAT(with([&](Json& pieces) { pieces[3][0] = wrong; }), Contains(std::string("piece '") + wrong + "' looks like a byte"));
  }
  CHECK_THAT(with([](Json& pieces) { pieces.push_back(Json::array({"<0x41>", 0.0})); }), Contains("both stand for the byte 65"));
  CHECK_THAT(with([](Json& pieces) { pieces[3 + 200][0] = "x"; }), Contains("no piece for the byte 200"));
  json = byte_level();
  json["model"]["vocab"].erase("!");
  json["model"]["vocab"]["xx"] = 0;
  CHECK_THAT(refusal(json), Contains("no piece for the byte 33"));
}

TEST_CASE("TOK-22 vocab.json and merges.txt that do not belong together are refused by line") {
  const TemporaryFolder folder;
  folder.write("vocab.json", byte_level()["model"]["vocab"].dump());
  CHECK_THAT(refusal(folder, "gpt2"), Contains("merges.txt is missing"));
  folder.write("merges.txt", "#version: 0.2\nh e\n");
  CHECK(refusal(folder, "gpt2") == "accepted");
  CHECK_THAT(refusal(folder, "bart"), Contains("no '<s>'"));
  CHECK_THAT(refusal(folder, "clip"), Contains("the family 'clip'"));
  folder.write("merges.txt", "#version: 0.2\nh e\nhe\n");
  CHECK_THAT(refusal(folder, "gpt2"), Contains("merges.txt: line 3"));
  folder.write("vocab.json", "{}");
  CHECK_THAT(refusal(folder, "gpt2"), Contains("line 2"));
  folder.write("vocab.json", R"({"a": 1})");
  CHECK_THAT(refusal(folder, "gpt2"), Contains("has id 1"));
}

TEST_CASE("Pieces that no merge of tokenizer.json gives are noted, and none of a whole one is") {
  const auto notes_of = [](const Json& json) {
    const TemporaryFolder folder;
    folder.write("tokenizer.json", json.dump());
    schema::TokenizerT table;
    std::vector<std::string> notes;
    tools::build_tokenizer(folder.path(), "graph", table, &notes);
    return notes;
  };
  for (const char* name : {"bytes", "bytes_space"}) {
    Json json = tools::parse_json(bytes_of(golden(name) / "tokenizer.json"), name);
    CHECK(notes_of(json).empty());
    Json& merges = json["model"]["merges"];
    const size_t whole = merges.size();
    for (const size_t kept : {whole - 1, whole / 2, size_t{0}}) {
      merges.erase(merges.begin() + static_cast<ptrdiff_t>(kept), merges.end());
      REQUIRE(notes_of(json).size() == 1);
      CHECK_THAT(notes_of(json)[0], Contains("tokenizer.json") && Contains("no merge gives " + std::to_string(whole - kept) + " of its pieces"));
    }
    json["model"]["ignore_merges"] = true;  // then texts have them
    CHECK(notes_of(json).empty());
  }
  Json hand_made = byte_level();
  hand_made["model"]["vocab"]["<table>"] = 257;
  CHECK_THAT(notes_of(hand_made).at(0), Contains("\"<table>\""));
  hand_made["added_tokens"] = Json::array({{{"id", 257}, {"content", "<table>"}, {"special", false}}});
  CHECK(notes_of(hand_made).empty());
}

TEST_CASE("A SentencePiece model that is cut off or changed anywhere is refused, or read to the end") {
  const std::string whole = bytes_of(golden("marian") / "source.spm");
  const TemporaryFolder folder;
  size_t accepted = 0;
  for (size_t bytes = 0; bytes < whole.size(); bytes += bytes < 100 ? 1 : 97) {
    folder.write("tokenizer.model", whole.substr(0, bytes));
    accepted += refusal(folder) == "accepted";
  }
  CHECK(accepted < 200);  // cut between pieces it is a model of fewer pieces, with the defaults of the format
  for (size_t bit = 0; bit < 8 * whole.size(); bit += bit < 800 ? 1 : 1013) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    folder.write("tokenizer.model", changed);
    CHECK(refusal(folder).size() > 0);
  }
  folder.write("tokenizer.model", "");
  CHECK_THAT(refusal(folder), Contains("the vocabulary is empty"));
  folder.write("tokenizer.model", "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F");
  CHECK_THAT(refusal(folder), Contains("not a SentencePiece model"));
}

// A message of pieces (text, score, type) and fields of its trainer and normalizer.
std::string message(const std::vector<std::pair<std::string, int>>& pieces, const std::string& trainer, const std::string& normalizer) {
  std::string all;
  for (const auto& [text, type] : pieces) {
    std::string piece = "\x0A" + std::string(1, static_cast<char>(text.size())) + text + std::string("\x15\0\0\0\xC0", 5) + "\x18" + static_cast<char>(type);
    all += "\x0A" + std::string(1, static_cast<char>(piece.size())) + piece;
  }
  return all + "\x12" + static_cast<char>(trainer.size()) + trainer + "\x1A" + static_cast<char>(normalizer.size()) + normalizer;
}

TEST_CASE("What a SentencePiece model may ask for and heed does not have is refused by name") {
  const TemporaryFolder folder;
  const auto with = [&](const std::vector<std::pair<std::string, int>>& pieces, const std::string& trainer, const std::string& normalizer) {
    folder.write("tokenizer.model", message(pieces, trainer, normalizer));
    return refusal(folder);
  };
  const std::vector<std::pair<std::string, int>> sound = {{"<unk>", 2}, {"a", 1}};
  CHECK(with(sound, "", "") == "accepted");
  CHECK(with(sound, "\x18\x02", "") == "accepted");
  CHECK_THAT(with(sound, "\x18\x03", ""), Contains("a model of whole words"));
  CHECK_THAT(with(sound, "\x18\x04", ""), Contains("a model of single characters"));
  CHECK_THAT(with(sound, "\xC0\x01\x01", ""), Contains("treat_whitespace_as_suffix"));
  CHECK_THAT(with(sound, "", std::string("\x28\0", 2)), Contains("escape_whitespaces"));
  CHECK_THAT(with({{"<unk>", 2}, {"a", 4}}, "", ""), Contains("the user-defined piece 'a'"));
  CHECK_THAT(with({{"<unk>", 2}, {"a", 5}}, "\x18\x02", ""), Contains("the unused piece 'a'"));
  CHECK_THAT(with({{"<unk>", 2}, {"a", 7}}, "", ""), Contains("the unknown type 7"));
  CHECK_THAT(with({{"a", 1}}, "", ""), Contains("no piece is the unknown one"));
  CHECK_THAT(with({{"<unk>", 2}, {"A", 6}}, "", ""), Contains("is said to be a byte"));
  folder.write("tokenizer.model", message(sound, "", ""));
  CHECK_THAT(refusal(folder, "llama"), Contains("the family 'llama'"));
}

TEST_CASE("A double array finds exactly the strings that it was made of") {
  std::map<std::string, uint32_t> numbers;
  uint32_t state = 1;
  for (uint32_t i = 0; i < 20000; ++i) {
    std::string text;
    for (uint32_t length = 1 + (state >> 8) % 7; length > 0; --length) {
      state = state * 1664525 + 1013904223;
      text += static_cast<char>(1 + (state >> 24) % (i % 2 ? 255 : 6));
    }
    numbers.emplace(text, i);
  }
  const std::vector<uint32_t> units = tools::build_trie(numbers);
  ::flatbuffers::FlatBufferBuilder builder;
  const auto vector = builder.CreateVector(units);
  schema::TokenizerBuilder table(builder);
  table.add_trie(vector);
  builder.Finish(table.Finish());
  const Trie trie(::flatbuffers::GetRoot<schema::Tokenizer>(builder.GetBufferPointer())->trie());
  const auto find = [&](const std::string& text, uint32_t* number) {
    Trie::Walk walk(trie);
    for (const char c : text) {
      if (!walk.step(static_cast<uint8_t>(c))) return false;
    }
    return walk.ends(number);
  };
  for (const auto& [text, wanted] : numbers) {
    uint32_t number = 0;
    REQUIRE(find(text, &number));
    REQUIRE(number == wanted);
    for (const std::string& other : {text + '\x7', text.substr(1), text + std::string(1, '\0')}) {
      REQUIRE(find(other, &number) == (numbers.count(other) != 0));
    }
  }
  CHECK_THROWS_AS(tools::build_trie({{"", 1}}), tools::Error);
}

}  // namespace
}  // namespace heed::test
