// The converter's reading of tokenizer files: what is taken over, and what is refused by name.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "convert/json.h"
#include "error.h"
#include "support/tokenizers.h"
#include "text/vocabulary.h"

namespace heed::test {
namespace {

using tools::Json;

Json added(uint32_t id, const std::string& text) {
  return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

Json step(const std::string& name) { return {{"SpecialToken", {{"id", name}, {"type_id", 0}}}}; }

// A tokenizer.json as sentence encoders have it.
Json sound() {
  const Json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const auto special = [](const std::string& name, uint32_t id) {
    return Json{{"id", name}, {"ids", {id}}, {"tokens", {name}}};
  };
  return {{"version", "1.0"},
          {"truncation", {{"max_length", 128}, {"strategy", "LongestFirst"}, {"stride", 0}}},
          {"padding", {{"strategy", {{"Fixed", 128}}}, {"pad_id", 0}}},
          {"added_tokens", {added(0, "[PAD]"), added(1, "[UNK]"), added(2, "[CLS]"), added(3, "[SEP]")}},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", nullptr},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", {step("[CLS]"), text, step("[SEP]")}},
            {"pair", Json::array()},
            {"special_tokens", {{"[CLS]", special("[CLS]", 2)}, {"[SEP]", special("[SEP]", 3)}}}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab",
             {{"[PAD]", 0},
              {"[UNK]", 1},
              {"[CLS]", 2},
              {"[SEP]", 3},
              {"cafe", 4},
              {"##s", 5},
              {"caf\xC3\xA9", 6},
              {"Cafe", 7},
              {"Caf\xC3\xA9", 8}}}}}};
}

constexpr const char* kText = "Caf\xC3\xA9";

schema::TokenizerT converted(const TemporaryFolder& folder, const std::string& model_type = "bert") {
  schema::TokenizerT tokenizer;
  tools::build_tokenizer(folder.path(), model_type, tokenizer);
  return tokenizer;
}

schema::TokenizerT converted(const Json& json) {
  const TemporaryFolder folder;
  folder.write("tokenizer.json", json.dump());
  return converted(folder);
}

std::string refusal(const TemporaryFolder& folder, const std::string& model_type = "bert") {
  try {
    converted(folder, model_type);
  } catch (const tools::Error& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal(const Json& json) {
  const TemporaryFolder folder;
  folder.write("tokenizer.json", json.dump());
  return refusal(folder);
}

std::string refusal(const char* pointer, const Json& value) {
  Json json = sound();
  json[Json::json_pointer(pointer)] = value;
  return refusal(json);
}

TEST_CASE("tokenizer.json gives the tables, and its truncation and padding do not count") {
  const schema::TokenizerT tokenizer = converted(sound());
  CHECK(tokenizer.kind == schema::TokenizerKind::wordpiece);
  CHECK(tokenizer.vocabulary == 9);
  CHECK(tokenizer.unknown == 1);
  CHECK(tokenizer.prefix == std::vector<uint32_t>{2});
  CHECK(tokenizer.suffix == std::vector<uint32_t>{3});
  CHECK(tokenizer.truncation == 0);
  CHECK(tokenizer.max_word_chars == 100);
  CHECK(tokenizer.longest_piece == 5);
  const TextModel model(tokenizer);
  CHECK(shown(tokenize(model, "Caf\xC3\xA9s [SEP]")) == "2:0:0 4:0:5 5:5:6 1:7:8 1:8:11 1:11:12 3:12:12");
}

TEST_CASE("TOK-02 Without strip_accents case decides") {
  Json json = sound();
  Json& normalizer = json["normalizer"];
  const auto piece = [&](Json strip, bool lower) {
    normalizer["strip_accents"] = strip;
    normalizer["lowercase"] = lower;
    return pieces(TextModel(converted(json)), kText);
  };
  CHECK(piece(nullptr, true) == "cafe");
  CHECK(piece(nullptr, false) == "Caf\xC3\xA9");
  CHECK(piece(false, true) == "caf\xC3\xA9");
  CHECK(piece(true, false) == "Cafe");
}

TEST_CASE("TOK-05 The longest word comes from tokenizer.json") {
  Json json = sound();
  json["model"]["max_input_chars_per_word"] = 4;
  CHECK(pieces(TextModel(converted(json)), "cafe cafes") == "cafe [UNK]");
  CHECK_THAT(refusal("/model/max_input_chars_per_word", 101), Catch::Contains("\"max_input_chars_per_word\" is 101"));
}

TEST_CASE("Anything in tokenizer.json that heed does not do is refused by name") {
  using Catch::Contains;
  CHECK_THAT(refusal("/model/type", "WordLevel"), Contains("the model 'WordLevel'"));
  CHECK_THAT(refusal("/model/dropout", 0.1), Contains("\"dropout\""));
  CHECK_THAT(refusal("/normalizer/type", "Lowercase"), Contains("\"type\" is \"Lowercase\""));
  CHECK_THAT(refusal("/normalizer/fold", true), Contains("\"fold\""));
  CHECK_THAT(refusal("/normalizer", nullptr), Contains("\"normalizer\" is missing"));
  CHECK_THAT(refusal("/pre_tokenizer/type", "Whitespace"), Contains("\"type\" is \"Whitespace\""));
  CHECK_THAT(refusal("/post_processor/type", "ByteLevel"), Contains("\"type\" is \"ByteLevel\""));
  CHECK_THAT(refusal("/post_processor/single/0/SpecialToken/type_id", 1), Contains("\"type_id\" is 1"));
  CHECK_THAT(refusal("/post_processor/single/1/Sequence/id", "B"), Contains("text A once"));
  CHECK_THAT(refusal("/post_processor/single/0/SpecialToken/id", "[X]"), Contains("\"[X]\" is missing"));
  CHECK_THAT(refusal("/post_processor/special_tokens/[CLS]/ids/0", 99), Contains("token 99"));
  CHECK_THAT(refusal("/dictionary", 1), Contains("\"dictionary\""));
  CHECK_THAT(refusal("/added_tokens/0/id", 7), Contains("[PAD]"));
  CHECK_THAT(refusal("/added_tokens/0/sticky", true), Contains("\"sticky\""));
}

TEST_CASE(
    "TOK-15 No flag of a special token makes a control token of text, and other added tokens are found") {
  const std::string text = "cafe [SEP] cafe[SEP]";
  const std::string plain = shown(tokenize(TextModel(converted(sound())), text));
  CHECK(plain == "2:0:0 4:0:4 1:5:6 1:6:9 1:9:10 4:11:15 1:15:16 1:16:19 1:19:20 3:20:20");
  for (const char* flag : {"lstrip", "rstrip", "single_word", "normalized"}) {
    Json json = sound();
    json["added_tokens"][3][flag] = true;
    const schema::TokenizerT tokenizer = converted(json);
    CHECK(shown(tokenize(TextModel(tokenizer), text)) == plain);
    const schema::AddedTokenT& token = *tokenizer.added[3];  // kept for who asks for control tokens
    CHECK(token.text == "[SEP]");
    CHECK(token.lstrip + token.rstrip + token.single_word + token.normalized == 1);
  }
  Json json = sound();
  json["added_tokens"].push_back(added(9, "[NEW]"));
  CHECK(converted(json).vocabulary == 10);
  json["added_tokens"][4]["special"] = false;
  CHECK(shown(tokenize(TextModel(converted(json)), "cafe[NEW]")) == "2:0:0 4:0:4 9:4:9 3:9:9");
  json["added_tokens"][4]["single_word"] = true;
  CHECK_THAT(refusal(json), Catch::Contains("'[NEW]' has \"single_word\""));
}

TEST_CASE("TOK-22 A vocabulary with holes, with one id twice or without its unknown token is refused") {
  using Catch::Contains;
  CHECK_THAT(refusal("/model/vocab/cafe", 9), Contains("has id 9"));
  CHECK_THAT(refusal("/model/vocab/cafe", 5), Contains("has id 5"));
  CHECK_THAT(refusal("/model/vocab/cafe", -1), Contains("has id -1"));
  CHECK_THAT(refusal("/model/vocab/cafe", 4294967300), Contains("has id 4294967300"));
  CHECK_THAT(refusal("/model/unk_token", "<unk>"), Contains("<unk>"));
  Json json = sound();
  json["model"]["vocab"] = Json::object();
  json["added_tokens"] = Json::array();
  CHECK_THAT(refusal(json), Contains("the vocabulary is empty"));
  json = sound();
  json["model"]["vocab"] = {{"[UNK]", 0}};  // one piece
  json["added_tokens"] = Json::array();
  json["post_processor"] = nullptr;
  const TextModel model(converted(json));
  CHECK(shown(tokenize(model, "a b")) == "0:0:1 0:2:3");
}

TEST_CASE("Special tokens around a text may come from BertProcessing or not be there") {
  Json json = sound();
  json["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}};
  CHECK(shown(tokenize(TextModel(converted(json)), "cafe")) == "2:0:0 4:0:4 3:4:4");
  json["post_processor"] = nullptr;
  CHECK(shown(tokenize(TextModel(converted(json)), "cafe")) == "4:0:4");
}

TEST_CASE("vocab.txt with tokenizer_config.json gives the same tables as tokenizer.json") {
  const TemporaryFolder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\ncafe\r\n##s\ncaf\xC3\xA9\nCafe\nCaf\xC3\xA9");
  const schema::TokenizerT from_json = converted(sound());
  for (
      const char* config :
      {"",
       R"({"do_lower_case": true, "tokenizer_class": "BertTokenizer", "strip_accents": null, "max_len": 512})"}) {
    if (*config) folder.write("tokenizer_config.json", config);
    const schema::TokenizerT tokenizer = converted(folder);
    CHECK(tokenizer.piece_bytes == from_json.piece_bytes);
    CHECK(tokenizer.slots == from_json.slots);
    CHECK(tokenizer.runs == from_json.runs);
    CHECK(tokenizer.prefix == from_json.prefix);
    CHECK(tokenizer.suffix == from_json.suffix);
    CHECK(tokenizer.unknown == from_json.unknown);
  }
  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  CHECK(pieces(TextModel(converted(folder)), kText) == kText);
  folder.write("tokenizer_config.json", R"({"cls_token": {"content": "cafe", "special": true}, "sep_token": "##s"})");
  CHECK(converted(folder).prefix == std::vector<uint32_t>{4});
  CHECK(converted(folder).suffix == std::vector<uint32_t>{5});
}

TEST_CASE("What vocab.txt cannot say is refused by name") {
  using Catch::Contains;
  const TemporaryFolder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n");
  CHECK(refusal(folder) == "accepted");
  CHECK_THAT(refusal(folder, "xlm"), Contains("'xlm'"));
  const auto config = [&](const std::string& text) {
    folder.write("tokenizer_config.json", text);
    return refusal(folder);
  };
  CHECK_THAT(config(R"({"tokenizer_class": "MPNetTokenizer"})"), Contains("MPNetTokenizer"));
  CHECK_THAT(config(R"({"do_basic_tokenize": false})"), Contains("do_basic_tokenize"));
  CHECK_THAT(config(R"({"never_split": ["x"]})"), Contains("never_split"));
  CHECK_THAT(config(R"({"truncation_side": "left"})"), Contains("truncation_side"));
  CHECK_THAT(config(R"({"new_option": 1})"), Contains("new_option"));
  CHECK_THAT(config(R"({"unk_token": "<unk>"})"), Contains("<unk>"));
  CHECK_THAT(config(R"({"cls_token": "<s>"})"), Contains("<s>"));
  folder.write("vocab.txt", "");
  folder.write("tokenizer_config.json", "{}");
  CHECK(refusal(folder) != "accepted");
}

TEST_CASE("tokenizer_config.json decides about case where it speaks and is BERT's") {
  const TemporaryFolder folder;
  folder.write("tokenizer.json", sound().dump());
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "do_lower_case": false})");
  CHECK(pieces(TextModel(converted(folder)), kText) == kText);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": false})");
  CHECK(pieces(TextModel(converted(folder)), kText) == "cafe");
  folder.write("tokenizer_config.json", R"({"truncation_side": "left"})");
  CHECK_THAT(refusal(folder), Catch::Contains("truncation_side"));
}

TEST_CASE("Of two pieces spelled the same the later one is found; too many are refused") {
  std::vector<std::string> pieces_of(5, "same");
  CHECK(shown(tokenize(TextModel(pieces_of), "same")) == "2:0:0 8:0:4 3:4:4");
  pieces_of.assign(kMaxProbes + 1, "same");
  CHECK_THROWS_AS(TextModel(pieces_of), tools::Error);
}

}  // namespace
}  // namespace heed::test
