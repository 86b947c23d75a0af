// What a conversion does with the files that say how texts are treated.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <numeric>

#include "support/temporary_folder.h"
#include "convert/convert.h"
#include "convert/json.h"
#include "convert/support/run_model.h"
#include "convert/support/tiny_bert.h"
#include "convert/support/tiny_vocabulary.h"
#include "error.h"

using namespace heed;
using namespace heed::tools;
using namespace heed::test;
using Catch::Matchers::Contains;
using schema::TruncationSource;

namespace {

struct Trial {
  TemporaryFolder folder;
  TinyBert model;
  ConvertOptions options;

  Trial() {
    options.source = folder.path() / "model";
    options.output = folder.path() / "m.heed";
    write_vocabulary(options.source);
  }
  void file(const char* name, const Json& json) { write_file(options.source / name, json.dump()); }
  schema::ModelT convert() {
    model.write(options.source);
    tools::convert(options);
    return read_tables(options.output);
  }
  std::string refusal() {
    try {
      convert();
    } catch (const Error& error) {
      return error.what();
    }
    return "converted";
  }
};

}  // namespace

TEST_CASE("where a text is cut: sentence_bert_config.json, tokenizer_config.json, the position table") {
  Trial trial;
  const auto cut = [&](uint32_t length, TruncationSource source) {
    const schema::ModelT tables = trial.convert();
    REQUIRE(tables.tokenizer);
    CHECK(tables.tokenizer->truncation == length);
    CHECK(tables.tokenizer->truncation_source == source);
    CHECK(tables.metadata->max_sequence_rows == length);
  };
  cut(24, TruncationSource::position_table);
  trial.file("tokenizer_config.json", {{"model_max_length", 20}});
  cut(20, TruncationSource::tokenizer_config);
  trial.file("sentence_bert_config.json", {{"max_seq_length", 12}, {"do_lower_case", false}});
  cut(12, TruncationSource::sentence_bert_config);
  trial.options.max_rows = 9;
  cut(9, TruncationSource::user);
  trial.options.max_rows.reset();
  trial.file("sentence_bert_config.json", {{"max_seq_length", nullptr}});
  cut(20, TruncationSource::tokenizer_config);
  trial.file("sentence_bert_config.json", {{"max_seq_length", 4000}});
  cut(24, TruncationSource::position_table);
  write_file(trial.options.source / "sentence_bert_config.json", "{\"max_seq_length\":null}");
  write_file(trial.options.source / "tokenizer_config.json", "{\"model_max_length\":1000000000000000019884624838656}");
  cut(24, TruncationSource::position_table);
}

TEST_CASE("settings that change which tokens a text gets are refused") {
  Trial trial;
  trial.file("sentence_bert_config.json", {{"max_seq_length", -3}});
  CHECK_THAT(trial.refusal(), Contains("max_seq_length") && Contains("-3"));
  trial.file("sentence_bert_config.json", {{"max_seq_length", "x"}});
  CHECK_THAT(trial.refusal(), Contains("max_seq_length"));
  trial.file("sentence_bert_config.json", {{"do_lower_case", true}});
  CHECK(trial.refusal() == "converted");
  trial.file("tokenizer_config.json", {{"do_lower_case", false}});
  CHECK_THAT(trial.refusal(), Contains("do_lower_case"));
  trial.file("sentence_bert_config.json", {{"query_length", 8}});
  CHECK_THAT(trial.refusal(), Contains("query_length") && Contains("8"));
}

TEST_CASE("prompts are kept by name") {
  Trial trial;
  trial.file("config_sentence_transformers.json", {{"prompts", {{"query", "query: "}, {"passage", "passage: "}}},
                                                   {"default_prompt_name", "query"},
                                                   {"similarity_fn_name", "cosine"}});
  const schema::ModelT tables = trial.convert();
  REQUIRE(tables.metadata->prompts.size() == 2);
  CHECK(tables.metadata->prompts[0]->name == "passage");
  CHECK(tables.metadata->prompts[0]->text == "passage: ");
  CHECK(tables.metadata->default_prompt == "query");
  trial.file("config_sentence_transformers.json", {{"default_prompt_name", "question"}});
  CHECK_THAT(trial.refusal(), Contains("question"));
  trial.file("config_sentence_transformers.json", {{"prompts", {{"query", 3}}}});
  CHECK_THAT(trial.refusal(), Contains("\"query\""));
  trial.file("config_sentence_transformers.json", {{"truncate_dim", 16}});
  CHECK_THAT(trial.refusal(), Contains("truncate_dim") && Contains("16"));
}

TEST_CASE("the licence comes from the model card, the source from the config") {
  Trial trial;
  write_file(trial.options.source / "README.md", "---\nlanguage: en\nlicense: apache-2.0\n---\nlicense: other\n");
  trial.model.config["_name_or_path"] = "someone/tiny";
  const schema::ModelT tables = trial.convert();
  CHECK(tables.metadata->licence == "apache-2.0");
  CHECK(tables.metadata->source == "someone/tiny");
  CHECK(tables.metadata->family == "bert");
  CHECK_THAT(tables.metadata->producer, Contains("heed "));
}

TEST_CASE("calibration evens out the inputs of the layers and keeps the model's meaning") {
  Trial trial;
  trial.options.weights = "q8c";
  // An inner channel of each feed-forward that is large on the way and small in its weights, as in trained models.
  for (const std::string block : {"encoder.layer.0.", "encoder.layer.1."}) {
    std::vector<float> up = trial.model.values(block + "intermediate.dense.weight");  // [64, 32]
    std::vector<float> down = trial.model.values(block + "output.dense.weight");      // [32, 64]
    for (size_t i = 0; i < 32; ++i) {
      up[3 * 32 + i] *= 60;
      down[i * 64 + 3] /= 60;
    }
    trial.model.set(block + "intermediate.dense.weight", {64, 32}, up);
    trial.model.set(block + "output.dense.weight", {32, 64}, down);
  }
  const auto mean_cosine = [&] {
    trial.convert();
    double sum = 0;
    for (int32_t first = 0; first < 20; ++first) {
      std::vector<int32_t> ids(12);
      for (int32_t i = 0; i < 12; ++i) ids[i] = 5 + (first * 7 + i * (first + 3)) % 35;
      sum += cosine(trial.model.embedding(ids), run_model(trial.options.output, {{"tokens", ids, {}, 0}}).values) / 20;
    }
    return sum;
  };
  const double plain = mean_cosine();
  std::string texts;
  for (int i = 0; i < 60; ++i) {
    for (const int word : {i, i * 11, i * 3}) texts += "w" + std::to_string(5 + word % 35) + " ";
    texts += "\n";
  }
  trial.options.calibrate = trial.folder.path() / "texts";
  write_file(trial.options.calibrate, texts);
  const double calibrated = mean_cosine();
  CHECK(1 - calibrated < 0.5 * (1 - plain));
  const schema::ModelT tables = read_tables(trial.options.output);
  // Query, key and value share one scale, at one place: the runtime quantizes their input once.
  const schema::NodeT& attention = *tables.graphs[0]->nodes[1];
  CHECK(tables.weights[attention.query]->input_scale == tables.weights[attention.key]->input_scale);
  CHECK(tables.weights[attention.query]->input_scale == tables.weights[attention.value]->input_scale);
  CHECK(tables.weights[attention.query]->input_scale != tables.weights[attention.output]->input_scale);
  for (const auto& weight : tables.weights) {
    CHECK(weight->has_input_scale == (weight->layout == schema::Layout::panel16));
  }

  write_file(trial.options.calibrate, "\n\n");
  CHECK_THROWS_WITH(tools::convert(trial.options), Contains("has no text"));
  std::filesystem::remove(trial.options.source / "vocab.txt");
  CHECK_THROWS_WITH(tools::convert(trial.options), Contains("no tokenizer"));
}
