// Hugging Face folders of MarianMT, BART and T5 against transformers on PyTorch in float64 (tools/golden/encoder_decoders.py), and what
// their front ends refuse.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "convert/json.h"
#include "error.h"
#include "heed/generate.h"
#include "support/converted.h"

namespace heed::testing {
namespace {

namespace fs = std::filesystem;
using tools::Json;

const char* const kModels[] = {"marian", "marian_apart", "bart", "t5", "t5_gated"};

fs::path golden(const std::string& name) { return fs::path(HEED_SOURCE_DIR) / "tests/golden/encoder_decoders" / name; }

Json read(const fs::path& path) {
  const tools::MappedFile file(path);
  return Json::parse(file.text());
}

// The logits of `decode`, a token at a time, behind a run of `encode`.
std::vector<std::vector<float>> logits_of(TestSession& session, const std::vector<int32_t>& source, const std::vector<int32_t>& target) {
  std::vector<std::vector<float>> rows;
  REQUIRE(heed_reset(&session.session) == HEED_OK);
  const heed_input from{"tokens", source.data(), static_cast<uint32_t>(source.size()), nullptr};
  session.run({from}, 1, "encode");
  for (const int32_t& token : target) {
    const Output y = session.run({heed_input{"tokens", &token, 1, nullptr}}, 1, "decode");
    rows.emplace_back();
    for (uint32_t c = 0; c < y.features; ++c) rows.back().push_back(y.at(0, c));
  }
  return rows;
}

struct Difference {
  double largest = 0, error = 0, signal = 0, noise = 0;
};

Difference compare(const std::vector<std::vector<float>>& found, const Json& expected) {
  Difference out;
  REQUIRE(found.size() == expected.size());
  for (size_t r = 0; r < found.size(); ++r) {
    REQUIRE(found[r].size() == expected[r].size());
    for (size_t c = 0; c < found[r].size(); ++c) {
      const double wanted = expected[r][c].get<double>();
      const double difference = std::abs(wanted - static_cast<double>(found[r][c]));
      out.largest = std::max(out.largest, std::abs(wanted));
      out.error = std::max(out.error, difference);
      out.signal += wanted * wanted;
      out.noise += difference * difference;
    }
  }
  return out;
}

heed_generate_options options_of(const heed_model& model, const Json& json) {
  heed_generate_options options;
  heed_default_generate_options(&model, &options);  // start and stop tokens
  options.beams = json["beams"];
  options.max_tokens = json["max_tokens"];
  options.min_tokens = json.value("min_tokens", 0u);
  options.length_penalty = json.value("length_penalty", 0.0f);
  options.no_repeat = json.value("no_repeat", 0u);
  options.early_stopping = json.value("early_stopping", 0u);
  options.forced_first = json.value("forced_first", HEED_NO_TOKEN);
  options.forced_last = json.value("forced_last", HEED_NO_TOKEN);
  return options;
}

struct Generated {
  std::vector<uint32_t> tokens;
  float score;
  bool stopped;
  bool operator==(const Generated& other) const { return tokens == other.tokens && score == other.score && stopped == other.stopped; }
};

Generated generate(TestSession& session, const heed_generate_options& options, const std::vector<int32_t>& source) {
  uint64_t bytes = 0;
  REQUIRE(heed_generate_bytes(&options, &bytes, nullptr) == HEED_OK);
  AlignedBytes block(bytes);
  const heed_generation task{&options, source.data(), static_cast<uint32_t>(source.size()), block.data(), bytes};
  heed_generated output;
  heed_diagnostic diagnostic;
  const heed_status status = heed_generate(&session.session, &task, &output, &diagnostic);
  INFO(heed_status_text(status) << ": " << (diagnostic.what ? diagnostic.what : ""));
  REQUIRE(status == HEED_OK);
  return {{output.tokens, output.tokens + output.count}, output.score, output.stopped != 0};
}

Options session_options(uint32_t beams, uint32_t workers = 1, const char* isa = nullptr) {
  return {.rows = 32, .sequences = beams, .workers = workers, .tile_rows = 8, .isa = isa, .beams = beams};
}

// A copy of a golden folder whose files a test may change.
class Copy {
 public:
  explicit Copy(const std::string& name) {
    for (const char* file : {"config.json", "model.safetensors"}) fs::copy_file(golden(name) / file, folder_.path() / file);
  }
  const fs::path& path() const { return folder_.path(); }
  void set(const std::string& key, const Json& value) {
    Json config = read(path() / "config.json");
    config[key] = value;
    write("config.json", config.dump());
  }
  void remove(const std::string& key) {
    Json config = read(path() / "config.json");
    config.erase(key);
    write("config.json", config.dump());
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(path() / name) << text; }
  // The message of a conversion that fails.
  std::string refusal() const {
    try {
      converted(path(), "f32");
    } catch (const tools::Error& error) {
      return error.what();
    }
    return "";
  }

 private:
  tools::TemporaryFolder folder_;
};

// Valid until the next call, of which it has pointers.
heed_generate_options defaults_of(const fs::path& folder) {
  static AlignedBytes file;
  file = converted(folder, "q8c");
  heed_model model;
  REQUIRE(heed_open(file.data(), file.size(), 0, &model, nullptr) == HEED_OK);
  heed_generate_options options;
  heed_default_generate_options(&model, &options);
  return options;
}

}  // namespace

TEST_CASE("Logits of MarianMT, BART and T5 are as near to float64 as PyTorch's float32") {
  for (const char* name : kModels) {
    const AlignedBytes file = converted(golden(name), "f32");
    TestSession session(file, session_options(1));
    for (const Json& pass : read(golden(name) / "logits.json")) {
      const Difference found = compare(logits_of(session, pass["source"], pass["target"]), pass["expected"]);
      INFO(name << " error " << found.error << " largest " << found.largest << " PyTorch's " << pass["float32_error"]);
      CHECK(found.error <= std::max(2 * pass["float32_error"].get<double>(), 2e-6 * found.largest));
    }
  }
}

TEST_CASE("Outputs of MarianMT, BART and T5 are transformers', token by token") {
  for (const char* name : kModels) {
    const AlignedBytes file = converted(golden(name), "f32");
    const Json cases = read(golden(name) / "cases.json");
    CHECK(cases.size() >= 80);
    for (const Json& json : cases) {
      TestSession session(file, session_options(json["beams"]));
      const Generated found = generate(session, options_of(session.model, json), json["source"]);
      INFO(name << " " << json.dump());
      CHECK(found.tokens == json["tokens"].get<std::vector<uint32_t>>());
      CHECK(found.stopped == json["stopped"].get<bool>());
      if (json.contains("score")) CHECK(found.score == Approx(json["score"].get<double>()).margin(1e-4));
    }
  }
}

TEST_CASE("In int8 they keep 20 dB, with the same bits on every instruction set and number of workers") {
  for (const char* name : kModels) {
    const AlignedBytes file = converted(golden(name), "q8c");
    TestSession ref(file, session_options(4, 1, "ref"));
    Difference all;
    for (const Json& pass : read(golden(name) / "logits.json")) {
      const Difference found = compare(logits_of(ref, pass["source"], pass["target"]), pass["expected"]);
      all.signal += found.signal;
      all.noise += found.noise;
    }
    INFO(name << " " << 10 * std::log10(all.signal / all.noise) << " dB");
    CHECK(10 * std::log10(all.signal / all.noise) > 20);
    const Json cases = read(golden(name) / "cases.json");
    for (const std::string& isa : runnable_isas()) {
      for (const uint32_t workers : {1u, 4u}) {
        TestSession session(file, session_options(4, workers, isa.c_str()));
        for (size_t i = 1; i < cases.size(); i += 9) {
          const heed_generate_options options = options_of(session.model, cases[i]);
          CHECK(generate(session, options, cases[i]["source"]) == generate(ref, options, cases[i]["source"]));
        }
      }
    }
  }
}

TEST_CASE("A search's defaults are those of config.json, and of generation_config.json where it is there") {
  Copy copy("marian");
  heed_generate_options options = defaults_of(copy.path());
  CHECK(options.beams == 4);
  CHECK(options.max_tokens == 24);
  CHECK(options.start_token == 39);
  CHECK(options.stop_token == 0);
  CHECK(options.forced_last == 0);
  CHECK(options.forced_first == HEED_NO_TOKEN);
  CHECK(options.length_penalty == 1.0f);
  copy.write("generation_config.json", R"({"num_beams": 3, "max_length": 20, "min_length": 5, "length_penalty": 0.5, "no_repeat_ngram_size": 3,
    "early_stopping": "never", "decoder_start_token_id": 7, "eos_token_id": [2], "forced_bos_token_id": 4, "bad_words_ids": [[39], [5]], "suppress_tokens": [8],
    "top_k": 5, "transformers_version": "4.40.2"})");
  options = defaults_of(copy.path());
  CHECK(options.beams == 3);
  CHECK(options.max_tokens == 19);
  CHECK(options.min_tokens == 4);
  CHECK(options.length_penalty == 0.5f);
  CHECK(options.no_repeat == 3);
  CHECK(options.early_stopping == HEED_EARLY_STOPPING_NEVER);
  CHECK(options.start_token == 7);
  CHECK(options.stop_token == 2);
  CHECK(options.forced_first == 4);
  CHECK(options.suppressed_count == 3);
  CHECK(options.forced_last == HEED_NO_TOKEN);
  copy.write("generation_config.json", R"({"max_new_tokens": 500, "min_new_tokens": 2, "decoder_start_token_id": 39, "early_stopping": true})");
  options = defaults_of(copy.path());
  CHECK(options.max_tokens == 32);  // what the positions hold
  CHECK(options.min_tokens == 2);
  CHECK(options.early_stopping == HEED_EARLY_STOPPING_ON);
}

TEST_CASE("Tokens that config.json does not mention are those of transformers' classes; null is none") {
  Copy copy("bart");
  copy.remove("forced_eos_token_id");
  copy.remove("eos_token_id");
  copy.remove("decoder_start_token_id");
  CHECK(defaults_of(copy.path()).start_token == 2);
  CHECK(defaults_of(copy.path()).forced_last == 2);
  CHECK(defaults_of(copy.path()).stop_token == 2);
  copy.set("forced_eos_token_id", nullptr);
  CHECK(defaults_of(copy.path()).forced_last == HEED_NO_TOKEN);
}

TEST_CASE("What changes an output and is not there is refused by name") {
  const std::pair<const char*, Json> changes[] = {{"do_sample", true}, {"repetition_penalty", 1.2}, {"num_beam_groups", 2}, {"suppress_tokens", {"a"}},
                                                  {"bad_words_ids", {{39}, {5, 6}}}, {"early_stopping", "often"}, {"eos_token_id", {0, 2}},
                                                  {"forced_decoder_ids", {{1, 2}}}, {"encoder_no_repeat_ngram_size", 2}, {"eos_token_id", 40},
                                                  {"bad_words_ids", {{40}}}, {"suppress_tokens", {40}}, {"num_beams", 0}, {"num_beams", 1025},
                                                  {"length_penalty", 4.5}, {"max_length", 2000000}, {"max_new_tokens", 0}};
  for (const auto& [key, value] : changes) {
    Copy copy("marian");
    copy.set(key, value);
    INFO(key);
    CHECK_THAT(copy.refusal(), Catch::Contains("config.json") && Catch::Contains(key));
    copy.set(key, nullptr);
    Json generation = {{"decoder_start_token_id", 39}};
    generation[key] = value;
    copy.write("generation_config.json", generation.dump());
    CHECK_THAT(copy.refusal(), Catch::Contains("generation_config.json") && Catch::Contains(key));
  }
}

TEST_CASE("Configurations that change the mathematics are refused by name") {
  const std::pair<const char*, Json> marian[] = {
      {"normalize_before", true}, {"static_position_embeddings", false}, {"normalize_embedding", true}, {"add_final_layer_norm", true},
      {"activation_function", "mish"}, {"position_embedding_type", "relative"}, {"num_experts", 4}, {"architectures", {"MarianModel"}},
      {"decoder_vocab_size", 41}, {"decoder_attention_heads", 3}, {"encoder_layers", 0}, {"encoder_layers", 3}, {"d_model", 17},
      {"decoder_start_token_id", 40}, {"max_length", 1}, {"is_encoder_decoder", false}};
  for (const auto& [key, value] : marian) {
    Copy copy("marian");
    copy.set(key, value);
    INFO(key << " " << value.dump());
    const std::string what = copy.refusal();
    CHECK(!what.empty());
    if (std::string(key) != "encoder_layers" && std::string(key) != "d_model") CHECK_THAT(what, Catch::Contains(key));
  }
}

TEST_CASE("Tensors that are missing or left over are named") {
  Copy fewer("marian");
  fewer.set("decoder_layers", 1);
  CHECK_THAT(fewer.refusal(), Catch::Contains("model.decoder.layers.1.") && Catch::Contains("left over"));
  Copy more("marian");
  more.set("decoder_layers", 3);
  CHECK_THAT(more.refusal(), Catch::Contains("'model.decoder.layers.2.") && Catch::Contains("missing"));
  Copy apart("marian");
  apart.set("share_encoder_decoder_embeddings", false);
  CHECK_THAT(apart.refusal(), Catch::Contains("embed_tokens.weight") && Catch::Contains("missing"));
  Copy untied("marian");
  untied.set("tie_word_embeddings", false);
  CHECK_THAT(untied.refusal(), Catch::Contains("'lm_head.weight'") && Catch::Contains("missing"));
}

}  // namespace heed::testing
