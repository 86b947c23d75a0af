// Whole conversions of small checkpoints: what comes out runs and is right, what cannot be converted is refused by
// name. SPDX-License-Identifier: Apache-2.0
#include "convert/convert.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <thread>

#include "support/temporary_folder.h"
#include "convert/json.h"
#include "convert/support/run_model.h"
#include "convert/support/tiny_bert.h"
#include "error.h"

using namespace heed;
using namespace heed::tools;
using namespace heed::test;
using Catch::Matchers::Contains;

namespace {

const std::vector<int32_t> kIds = {3, 17, 4, 39, 0, 22, 8};

// A checkpoint in a temporary folder, and where its conversion goes.
struct Trial {
  TemporaryFolder folder;
  TinyBert model;
  std::filesystem::path source = folder.path() / "model";
  std::filesystem::path output = folder.path() / "out" / "m.heed";

  explicit Trial(TinyBert tiny = TinyBert()) : model(std::move(tiny)) {
    std::filesystem::create_directories(output.parent_path());
  }

  ConvertReport convert(const std::string& weights = "f32") {
    model.write(source);
    ConvertOptions options;
    options.source = source;
    options.output = output;
    options.weights = weights;
    return tools::convert(options);
  }
  bool nothing_left() const { return std::filesystem::is_empty(output.parent_path()); }
};

double worst_error(const Matrix& wanted, const ModelOutput& found) {
  REQUIRE(found.rows == wanted.size());
  REQUIRE(found.features == wanted[0].size());
  double worst = 0;
  for (size_t i = 0; i < found.values.size(); ++i) {
    worst = std::max(worst, std::fabs(found.values[i] - wanted[i / found.features][i % found.features]));
  }
  return worst;
}

std::string refusal(Trial& trial, const std::string& weights = "f32") {
  try {
    trial.convert(weights);
  } catch (const Error& error) {
    CHECK(trial.nothing_left());
    return error.what();
  }
  return "converted";
}

std::string refusal_with(const std::string& key, const Json& value, bool distil = false) {
  Trial trial{TinyBert(distil)};
  trial.model.config[key] = value;
  return refusal(trial);
}

bool mentions(const std::vector<std::string>& texts, const std::string& part) {
  for (const std::string& text : texts) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a BERT sentence encoder gives the embedding of its formulas") {
  Trial trial;
  const ConvertReport report = trial.convert();
  const ModelOutput output = run_model(trial.output, {{"tokens", kIds, {}, 0}});
  CHECK(output.name == "embedding");
  CHECK(worst_error({trial.model.embedding(kIds)}, output) < 2e-6);
  CHECK(report.warnings.empty());
  CHECK(report.family == "bert");
  CHECK(report.file_bytes == std::filesystem::file_size(trial.output));
  trial.convert("f16");
  CHECK(cosine(trial.model.embedding(kIds), run_model(trial.output, {{"tokens", kIds, {}, 0}}).values) > 0.99999);
  trial.convert("q8c");
  CHECK(cosine(trial.model.embedding(kIds), run_model(trial.output, {{"tokens", kIds, {}, 0}}).values) > 0.995);
}

TEST_CASE("without modules.json all rows come out, and segments count") {
  Trial trial;
  trial.model.modules.clear();
  trial.convert();
  const std::vector<int32_t> segments = {0, 0, 0, 1, 1, 1, 1};
  const ModelOutput plain = run_model(trial.output, {{"tokens", kIds, {}, 0}});
  CHECK(plain.name == "hidden");
  CHECK(worst_error(trial.model.hidden_rows(kIds), plain) < 2e-5);
  CHECK(worst_error(trial.model.hidden_rows(kIds, segments),
                    run_model(trial.output, {{"tokens", kIds, {}, 0}, {"segments", segments, {}, 0}})) < 2e-5);
}

TEST_CASE("a DistilBERT and checkpoints with a head or old names of norms convert to the same numbers") {
  Trial distil{TinyBert(true)};
  distil.convert();
  CHECK(worst_error({distil.model.embedding(kIds)}, run_model(distil.output, {{"tokens", kIds, {}, 0}})) < 2e-6);

  Trial headed{TinyBert(false, 1, "bert.")};
  headed.model.config["architectures"] = {"BertForMaskedLM"};
  headed.model.tensors["cls"] = f32_tensor("cls.predictions.bias", {40}, std::vector<float>(40));
  headed.model.tensors["pooler"] = f32_tensor("bert.pooler.dense.weight", {2, 2}, std::vector<float>(4));
  headed.model.tensors["position_ids"] = {"bert.embeddings.position_ids", "I64", {1, 2}, std::string(16, '\0')};
  const ConvertReport report = headed.convert();
  CHECK(mentions(report.notes, "cls.predictions.bias"));
  CHECK(mentions(report.notes, "bert.pooler.dense.weight"));
  CHECK(mentions(report.notes, "bert.embeddings.position_ids"));
  CHECK(worst_error({headed.model.embedding(kIds)}, run_model(headed.output, {{"tokens", kIds, {}, 0}})) < 2e-6);

  Trial old;
  const std::vector<double> wanted = old.model.embedding(kIds);
  old.model.tensors["embeddings.LayerNorm.weight"].name = "embeddings.LayerNorm.gamma";
  old.model.tensors["embeddings.LayerNorm.bias"].name = "embeddings.LayerNorm.beta";
  old.convert();
  CHECK(worst_error({wanted}, run_model(old.output, {{"tokens", kIds, {}, 0}})) < 2e-6);
}

TEST_CASE("tensors left over or missing are named") {
  Trial more;
  more.model.tensors["x"] = f32_tensor("encoder.layer.7.adapter.weight", {1}, {1});
  CHECK_THAT(refusal(more), Contains("'encoder.layer.7.adapter.weight'") && Contains("left over"));
  Trial less;
  less.model.tensors.erase("encoder.layer.1.output.dense.bias");
  CHECK_THAT(refusal(less), Contains("'encoder.layer.1.output.dense.bias'") && Contains("missing"));
  CHECK_THAT(refusal_with("num_hidden_layers", 1), Contains("encoder.layer.1.") && Contains("left over"));
  CHECK_THAT(refusal_with("num_hidden_layers", 2147483647), Contains("encoder.layer.2.") && Contains("missing"));
}

TEST_CASE("a config that contradicts the tensors is refused, naming tensor and shapes") {
  CHECK_THAT(refusal_with("vocab_size", 41), Contains("word_embeddings.weight") && Contains("[40, 32]") &&
                                                 Contains("[41, 32]") && Contains("vocab_size"));
  CHECK_THAT(refusal_with("intermediate_size", 63), Contains("intermediate.dense.weight") && Contains("[63, 32]"));
  CHECK_THAT(refusal_with("hidden_size", 31), Contains("31"));
  CHECK_THAT(refusal_with("num_attention_heads", 5), Contains("32 features") && Contains("5 attention heads"));
  CHECK_THAT(refusal_with("num_attention_heads", 0), Contains("0 attention heads"));
  CHECK_THAT(refusal_with("hidden_size", -1), Contains("hidden_size") && Contains("-1"));
  CHECK_THAT(refusal_with("hidden_size", "big"), Contains("hidden_size") && Contains("big"));
  CHECK_THAT(refusal_with("hidden_size", nullptr), Contains("hidden_size") && Contains("missing"));
}

TEST_CASE("a config key that changes the mathematics, known or unknown, is refused with its value") {
  CHECK_THAT(refusal_with("position_embedding_type", "relative_key"),
             Contains("position_embedding_type") && Contains("relative_key") && Contains("absolute"));
  CHECK_THAT(refusal_with("hidden_act", "mish"), Contains("hidden_act") && Contains("mish") && Contains("gelu_new"));
  CHECK_THAT(refusal_with("is_decoder", true), Contains("is_decoder") && Contains("true"));
  CHECK_THAT(refusal_with("use_layer_norm_backwards", {1, 2}),
             Contains("use_layer_norm_backwards") && Contains("[1,2]") && Contains("remove it"));
  CHECK_THAT(refusal_with("quantization_config", {{"bits", 4}}), Contains("quantization_config"));
  CHECK_THAT(refusal_with("model_type", "roberta"), Contains("roberta") && Contains("distilbert"));
  CHECK_THAT(refusal_with("architectures", {"NomicBertModel"}), Contains("NomicBertModel"));
  CHECK_THAT(refusal_with("activation", "relu6", true), Contains("relu6"));
  CHECK(refusal_with("classifier_dropout", nullptr) == "converted");
  CHECK(refusal_with("id2label", {{"0", "A"}}) == "converted");
}

TEST_CASE("hidden_act is what the blocks compute") {
  Trial gelu;
  gelu.convert();
  const std::vector<float> plain = run_model(gelu.output, {{"tokens", kIds, {}, 0}}).values;
  Trial relu;
  relu.model.config["hidden_act"] = "relu";
  relu.convert();
  CHECK(run_model(relu.output, {{"tokens", kIds, {}, 0}}).values != plain);
}

TEST_CASE("every pooling mode is supported or refused by name") {
  const auto pooled = [](const Json& pooling) {
    Trial trial;
    trial.model.modules = {"Transformer", "Pooling"};
    trial.model.pooling = pooling;
    trial.convert();
    return std::pair(trial.model.hidden_rows(kIds), run_model(trial.output, {{"tokens", kIds, {}, 0}}));
  };
  for (const Json& pooling : {Json{{"pooling_mode_cls_token", true}}, Json{{"pooling_mode", "cls"}}}) {
    const auto [rows, output] = pooled(pooling);
    CHECK(worst_error({rows.front()}, output) < 2e-5);
  }
  const auto [rows, last] = pooled({{"pooling_mode_lasttoken", true}, {"word_embedding_dimension", 32}});
  CHECK(worst_error({rows.back()}, last) < 2e-5);
  const auto [all, largest] = pooled({{"pooling_mode_max_tokens", true}});
  std::vector<double> maxima = all[0];
  for (const auto& row : all) {
    for (size_t c = 0; c < maxima.size(); ++c) maxima[c] = std::max(maxima[c], row[c]);
  }
  CHECK(worst_error({maxima}, largest) < 2e-5);

  const auto refused = [](const Json& pooling) {
    Trial trial;
    trial.model.pooling = pooling;
    return refusal(trial);
  };
  CHECK_THAT(refused({{"pooling_mode_weightedmean_tokens", true}}), Contains("weightedmean"));
  CHECK_THAT(refused({{"pooling_mode_mean_sqrt_len_tokens", true}}), Contains("mean_sqrt_len"));
  CHECK_THAT(refused({{"pooling_mode_mean_tokens", true}, {"pooling_mode_max_tokens", true}}),
             Contains("mean and max"));
  CHECK_THAT(refused({{"pooling_mode_mean_tokens", true}, {"word_embedding_dimension", 31}}), Contains("32 features"));
  CHECK_THAT(refused({{"pooling_mode_mean_tokens", true}, {"include_prompt", false}}), Contains("include_prompt"));
  CHECK_THAT(refused({{"pooling_mode_mean_tokens", true}, {"pooling_scale", 2}}), Contains("pooling_scale"));
  CHECK_THAT(refused(Json::object()), Contains("\"none\""));
}

TEST_CASE("a Dense module is a linear layer with its activation") {
  Trial trial;
  trial.model.modules = {"Transformer", "Pooling", "Dense"};
  std::vector<float> weight(3 * 32);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 7) / 10 - 0.3f;
  const auto write_dense = [&](const Json& config) {
    write_file(trial.source / "2_Dense" / "config.json", config.dump());
    write_file(trial.source / "2_Dense" / "model.safetensors",
               safetensors_bytes(
                   {f32_tensor("linear.weight", {3, 32}, weight), f32_tensor("linear.bias", {3}, {0.1f, 0.2f, 0.3f})}));
  };
  write_dense({{"in_features", 32},
               {"out_features", 3},
               {"bias", true},
               {"activation_function", "torch.nn.modules.activation.Tanh"}});
  trial.convert();
  const Matrix rows = trial.model.hidden_rows(kIds);
  std::vector<double> wanted = {0.1f, 0.2f, 0.3f};
  for (size_t o = 0; o < 3; ++o) {
    for (size_t c = 0; c < 32; ++c) {
      for (const auto& row : rows) wanted[o] += row[c] / rows.size() * weight[o * 32 + c];
    }
    wanted[o] = std::tanh(wanted[o]);
  }
  const ModelOutput output = run_model(trial.output, {{"tokens", kIds, {}, 0}});
  CHECK(output.name == "embedding");
  CHECK(worst_error({wanted}, output) < 2e-5);

  std::filesystem::remove(trial.output);
  write_dense({{"in_features", 32}, {"out_features", 3}, {"activation_function", "torch.nn.modules.activation.Mish"}});
  CHECK_THAT(refusal(trial), Contains("activation_function") && Contains("Mish"));
  write_dense({{"in_features", 31}, {"out_features", 3}});
  CHECK_THAT(refusal(trial), Contains("in_features") && Contains("31"));
  write_dense({{"in_features", 32}, {"out_features", 4}});
  CHECK_THAT(refusal(trial), Contains("linear") && Contains("[4"));
}

TEST_CASE("modules that heed does not have, or in another order, are refused by name") {
  const auto refused = [](const std::vector<std::string>& modules) {
    Trial trial;
    trial.model.modules = modules;
    return refusal(trial);
  };
  CHECK_THAT(refused({"Transformer", "Pooling", "LSTM"}), Contains("LSTM"));
  CHECK_THAT(refused({"Transformer", "Normalize"}), Contains("Normalize"));
  CHECK_THAT(refused({"BoW"}), Contains("BoW"));
  CHECK_THAT(refused({"Transformer", "Pooling", "Pooling"}), Contains("two Pooling"));
}

TEST_CASE("QNT-20: the format asked for is the format stored, and one that is not there is refused") {
  for (const std::string weights : {"q8c", "f16", "f32"}) {
    Trial trial;
    const ConvertReport report = trial.convert(weights);
    for (const LayerReport& layer : report.layers) {
      const bool norm = layer.rows == 1;
      const bool small_table = layer.name.find("position_embeddings") != std::string::npos ||
                               layer.name.find("token_type") != std::string::npos;
      CHECK(layer.format == (norm ? "f32" : small_table && weights == "q8c" ? "f16" : weights));
      if (weights == "f32") CHECK(std::isinf(layer.sqnr_db));
      if (layer.format == "q8c") CHECK(layer.sqnr_db > 35);
    }
  }
  for (const std::string weights : {"q8g32", "q4g32", "keep"}) {
    Trial trial;
    CHECK_THAT(refusal(trial, weights), Contains("--weights " + weights) && Contains("q8c, f16 or f32"));
  }
  Trial trial;
  CHECK_THROWS_AS(trial.convert("q5"), UsageError);
}

TEST_CASE("QNT-15, QNT-19: outlying channels give good embeddings, or a warning that names the layers") {
  Trial plain;
  const ConvertReport quiet = plain.convert("q8c");
  CHECK(quiet.warnings.empty());
  // Two input channels of every linear layer a hundred times larger than the rest, as large models show.
  Trial outlying;
  for (const auto& [name, tensor] : outlying.model.tensors) {
    if (name.rfind("encoder.", 0) != 0 || tensor.shape.size() != 2) continue;
    std::vector<float> values = outlying.model.values(name);
    const uint64_t cols = tensor.shape[1];
    for (size_t i = 0; i < values.size(); ++i) values[i] *= i % cols == 3 || i % cols == 11 ? 100.0f : 1.0f;
    outlying.model.set(name, tensor.shape, values);
  }
  const ConvertReport report = outlying.convert("q8c");
  const double similarity =
      cosine(outlying.model.embedding(kIds), run_model(outlying.output, {{"tokens", kIds, {}, 0}}).values);
  const bool warned = mentions(report.warnings, "'encoder.layer.0.attention.self.query.weight'") &&
                      mentions(report.warnings, "--calibrate");
  CHECK((similarity > 0.99 || warned));
  CHECK(warned);  // these weights do lose the other channels, whatever this input says
}

TEST_CASE("QNT-17: a weight that is not finite stops the conversion and leaves nothing") {
  for (const float bad : {std::nanf(""), INFINITY, -INFINITY}) {
    Trial trial;
    std::vector<float> values = trial.model.values("encoder.layer.0.output.dense.weight");
    values[65] = bad;
    trial.model.set("encoder.layer.0.output.dense.weight", {32, 64}, values);
    CHECK_THAT(refusal(trial, "q8c"), Contains("'encoder.layer.0.output.dense.weight'") && Contains("[1, 1]"));
  }
}

TEST_CASE("the same source gives the same bytes") {
  Trial trial;
  trial.convert("q8c");
  const std::string first = read_file(trial.output);
  trial.convert("q8c");
  CHECK(read_file(trial.output) == first);
}

TEST_CASE("f16 and bf16 checkpoints give what their numbers say") {
  Trial trial;
  trial.convert();
  const std::string from_f32 = read_file(trial.output);
  for (auto& [name, tensor] : trial.model.tensors) {
    std::vector<float> values = trial.model.values(name);
    std::vector<uint16_t> bits(values.size());
    for (size_t i = 0; i < values.size(); ++i) {  // cut to what bf16 holds, exactly
      std::memcpy(&bits[i], reinterpret_cast<const char*>(&values[i]) + 2, 2);
      const uint32_t wide = uint32_t{bits[i]} << 16;
      std::memcpy(&values[i], &wide, 4);
    }
    trial.model.set(name, tensor.shape, values);
  }
  trial.convert();
  const std::string cut = read_file(trial.output);
  CHECK(cut != from_f32);
  for (auto& [name, tensor] : trial.model.tensors) {
    std::string halves;
    for (size_t i = 0; i < tensor.bytes.size(); i += 4) halves += tensor.bytes.substr(i + 2, 2);
    tensor.bytes = halves;
    tensor.type = "BF16";
  }
  trial.convert();
  CHECK(read_file(trial.output) == cut);
}

TEST_CASE("max-rows bounds what a file plans for, max-context has no use here") {
  Trial trial;
  trial.model.write(trial.source);
  ConvertOptions options;
  options.source = trial.source;
  options.output = trial.output;
  const uint64_t whole = convert(options).arena_bytes;
  options.max_rows = 8;
  const ConvertReport small = convert(options);
  CHECK(small.arena_rows == 8);
  CHECK(small.arena_bytes < whole);
  options.max_rows = 25;
  CHECK_THROWS_WITH(convert(options), Contains("--max-rows 25") && Contains("24"));
  options.max_rows.reset();
  options.target = "mcu";
  CHECK(convert(options).arena_bytes < whole);
  options.target = "dsp";
  CHECK_THROWS_AS(convert(options), UsageError);
  options.target = "any";
  options.max_context = 5;
  CHECK_THROWS_WITH(convert(options), Contains("--max-context"));
}

TEST_CASE("an output that cannot be written is refused at once, and the old file stays") {
  Trial trial;
  trial.model.write(trial.source);
  ConvertOptions options;
  options.source = trial.source;
  for (const char* output : {"/dev/full", "/dev/null", "/proc/heed.heed", "/nonexistent/m.heed"}) {
    options.output = output;
    CHECK_THROWS_WITH(convert(options), Contains(output));
    CHECK(std::filesystem::exists("/dev/full"));
  }
  options.output = trial.folder.path() / "out";
  CHECK_THROWS_WITH(convert(options), Contains("is not a file"));
  write_file(trial.output, "old");
  trial.model.config["hidden_act"] = "mish";
  CHECK_THROWS_AS(trial.convert(), Error);
  CHECK(read_file(trial.output) == "old");
  options.output = trial.output;
  options.report = trial.output.parent_path() / ".." / "out" / "m.heed";
  CHECK_THROWS_AS(convert(options), UsageError);
}

TEST_CASE("a disk that fills up leaves nothing behind") {
  Trial trial;
  rlimit old_limit;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  trial.model.write(trial.source);
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{1}, rlim_t{5000}, rlim_t{20000}}) {
    const rlimit limit{bytes, old_limit.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    std::string message;
    try {
      ConvertOptions options;
      options.source = trial.source;
      options.output = trial.output;
      convert(options);
    } catch (const Error& error) {
      message = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &old_limit);
    CHECK_THAT(message, Contains("m.heed: cannot write"));
    CHECK(trial.nothing_left());
  }
  std::signal(SIGXFSZ, old_handler);
}

TEST_CASE("two conversions to one output at the same time each leave a whole file") {
  Trial one;
  Trial two{TinyBert(false, 2)};
  one.model.write(one.source);
  two.model.write(two.source);
  const auto run = [&](const Trial& trial) {
    ConvertOptions options;
    options.source = trial.source;
    options.output = one.output;
    for (int i = 0; i < 5; ++i) convert(options);
  };
  std::thread other([&] { run(two); });
  run(one);
  other.join();
  CHECK(run_model(one.output, {{"tokens", kIds, {}, 0}}).features == 32);
  CHECK(std::distance(std::filesystem::directory_iterator(one.output.parent_path()), {}) == 1);
}

TEST_CASE("the report says where the bytes are, for people and as JSON") {
  Trial trial;
  trial.model.write(trial.source);
  ConvertOptions options;
  options.source = trial.source;
  options.output = trial.output;
  options.report = trial.folder.path() / "report.json";
  const ConvertReport report = convert(options);
  const Json json = Json::parse(read_file(options.report));
  uint64_t bytes = 0;
  for (const Json& layer : json.at("layers")) bytes += layer.at("bytes").get<uint64_t>();
  CHECK(bytes == json.at("weight_bytes"));
  CHECK(json.at("weight_bytes").get<uint64_t>() + json.at("table_bytes").get<uint64_t>() ==
        std::filesystem::file_size(trial.output));
  CHECK(json.at("arena_bytes").get<uint64_t>() > 0);
  uint64_t parameters = 0;
  for (const auto& [name, tensor] : trial.model.tensors) parameters += tensor.bytes.size() / 4;
  CHECK(json.at("parameters") == parameters);
  CHECK_THAT(report_text(report),
             Contains("encoder.layer.1.output.dense.weight") && Contains(" dB") && Contains("arena:"));
}

TEST_CASE("a source that is nothing heed knows is told what heed knows") {
  TemporaryFolder folder;
  ConvertOptions options;
  options.source = folder.path() / "absent";
  options.output = folder.path() / "m.heed";
  CHECK_THROWS_WITH(convert(options), Contains("absent") && Contains("does not exist"));
  options.source = folder.path();
  CHECK_THROWS_WITH(convert(options), Contains("config.json") && Contains("graph.json"));
}
