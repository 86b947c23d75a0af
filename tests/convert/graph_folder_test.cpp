// Graph folders: any graph of the schema's ops, beside its tensors.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "support/temporary_folder.h"
#include "convert/convert.h"
#include "convert/json.h"
#include "convert/support/run_model.h"
#include "convert/support/tiny_vocabulary.h"
#include "error.h"

using namespace heed;
using namespace heed::tools;
using namespace heed::test;
using Catch::Matchers::Contains;

namespace {

// y = tanh(w x + b), then normalized.
const char* const kGraph = R"({
  "graphs": [{
    "name": "main", "values": 3,
    "inputs": [{"name": "x", "value": 0, "features": 2, "max_rows": 4}],
    "outputs": [{"name": "y", "value": 2}],
    "nodes": [
      {"op": "Linear", "name": "first", "inputs": [0], "outputs": [1], "weight": 0, "activation": "tanh"},
      {"op": "L2Normalize", "name": "last", "inputs": [1], "outputs": [2]}
    ]
  }],
  "weights": [{"name": "w", "bias_name": "b"}]
})";

struct Trial {
  TemporaryFolder folder;
  std::string graph = kGraph;
  std::vector<RawTensor> tensors = {f32_tensor("w", {3, 2}, {1, 2, 3, 4, 5, 6}),
                                    f32_tensor("b", {3}, {0.5f, 0, -0.5f})};
  ConvertOptions options;

  Trial() {
    options.source = folder.path() / "graph";
    options.output = folder.path() / "m.heed";
  }
  ConvertReport convert() {
    write_file(options.source / "graph.json", graph);
    write_file(options.source / "weights.safetensors", safetensors_bytes(tensors));
    return tools::convert(options);
  }
  std::string refusal() {
    try {
      convert();
    } catch (const Error& error) {
      CHECK_FALSE(std::filesystem::exists(options.output));
      return error.what();
    }
    return "converted";
  }
  void replace(const std::string& from, const std::string& to) { graph.replace(graph.find(from), from.size(), to); }
};

}  // namespace

TEST_CASE("a graph folder runs as its formulas say") {
  Trial trial;
  trial.options.weights = "f32";
  CHECK(trial.convert().family == "graph");
  const ModelOutput output = run_model(trial.options.output, {{"x", {}, {0.1f, -0.2f, 0.3f, 0.05f}, 2}});
  CHECK(output.name == "y");
  REQUIRE(output.values.size() == 6);
  for (int r = 0; r < 2; ++r) {
    const double x0 = r ? 0.3f : 0.1f;
    const double x1 = r ? 0.05f : -0.2f;
    const double y[] = {std::tanh(x0 + 2 * x1 + 0.5), std::tanh(3 * x0 + 4 * x1), std::tanh(5 * x0 + 6 * x1 - 0.5)};
    const double length = std::sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    for (int c = 0; c < 3; ++c) CHECK(output.values[r * 3 + c] == Approx(y[c] / length).margin(1e-6));
  }
}

TEST_CASE("QNT-15: one channel far above the rest leaves an int8 layer's output right") {
  Trial trial;
  trial.graph =
      R"({"graphs": [{"name": "main", "values": 2, "inputs": [{"name": "x", "value": 0, "features": 64, "max_rows": 1}],
    "outputs": [{"name": "y", "value": 1}], "nodes": [{"op": "Linear", "name": "n", "inputs": [0], "outputs": [1], "weight": 0}]}],
    "weights": [{"name": "w"}]})";
  std::vector<float> weight(64 * 64);
  std::vector<float> x(64);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>((i * 7919 + 13) % 2003) / 1001.5f - 1;
  for (size_t i = 0; i < x.size(); ++i) x[i] = i == 20 ? 60.0f : i % 3 ? 0.1f : -0.1f;
  trial.tensors = {f32_tensor("w", {64, 64}, weight)};
  trial.options.weights = "q8c";
  trial.convert();
  const std::vector<float> y = run_model(trial.options.output, {{"x", {}, x, 1}}).values;
  double dot = 0, wanted_squares = 0, squares = 0;
  for (size_t o = 0; o < 64; ++o) {
    double wanted = 0;
    for (size_t c = 0; c < 64; ++c) wanted += static_cast<double>(weight[o * 64 + c]) * x[c];
    dot += wanted * y[o];
    wanted_squares += wanted * wanted;
    squares += static_cast<double>(y[o]) * y[o];
  }
  CHECK(dot / std::sqrt(wanted_squares * squares) > 0.999);
}

TEST_CASE("the user's format wins over the weight's own, which wins over q8c") {
  Trial trial;
  CHECK(trial.convert().layers.at(0).format == "q8c");
  trial.options.weights = "f16";
  CHECK(trial.convert().layers.at(0).format == "f16");
  trial.replace("\"bias_name\"", "\"format\": \"f32\", \"bias_name\"");
  CHECK(trial.convert().layers.at(0).format == "f16");
  trial.options.weights.clear();
  CHECK(trial.convert().layers.at(0).format == "f32");
}

TEST_CASE("a graph that contradicts itself or its tensors is refused by name") {
  const auto refused = [](const std::string& from, const std::string& to) {
    Trial trial;
    trial.replace(from, to);
    return trial.refusal();
  };
  CHECK_THAT(refused("\"weight\": 0", "\"weight\": 7"), Contains("'first'") && Contains("weight id 7"));
  CHECK_THAT(refused("\"weight\": 0", "\"weight\": 0, \"wait\": 1"), Contains("wait"));
  CHECK_THAT(refused("\"Linear\"", "\"Linnear\""), Contains("Linnear"));
  CHECK_THAT(refused("\"bias_name\": \"b\"", "\"bias_name\": \"c\""), Contains("'c'") && Contains("missing"));
  CHECK_THAT(refused(", \"bias_name\": \"b\"", ""), Contains("'b'") && Contains("left over"));
  CHECK_THAT(
      refused("{\"name\": \"w\", \"bias_name\": \"b\"}", "{\"name\": \"w\", \"bias_name\": \"b\"}, {\"name\": \"b\"}"),
      Contains("'b'") && Contains("no node"));
  CHECK_THAT(refused("\"name\": \"w\"", "\"name\": \"w\", \"rows\": 5"),
             Contains("'w'") && Contains("3 rows") && Contains("5"));
  CHECK_THAT(refused("\"features\": 2", "\"features\": 5"),
             Contains("does not run") && Contains("'first'") && Contains("'w'"));
  CHECK_THAT(refused("\"outputs\": [2]}", "\"outputs\": [1]}"), Contains("does not run"));
  CHECK_THAT(refused("\"op\": \"Linear\"", "\"op\": \"Norm\""), Contains("'w'") && Contains("one dimension"));
  CHECK_THAT(refused("\"op\": \"L2Normalize\"", "\"op\": \"Recurrent\""), Contains("'last'") && Contains("Recurrent"));
  CHECK_THAT(refused("\"values\": 3", "\"values\": 3, \"values\": 3"), Contains("duplicate"));
  CHECK_THAT(refused("\"main\"", "main"), Contains("graph.json"));
}

TEST_CASE("hostile graph.json is an error in bounded depth") {
  Trial trial;
  for (const std::string& graph : {std::string(100000, '['), std::string("{\"graphs\":") + std::string(100000, '['),
                                  std::string("{}"), std::string(""), std::string("3"),
                                  std::string("{\"graphs\":[null]}"), std::string("{\"graphs\":[],\"weights\":[]}")}) {
    trial.graph = graph;
    CHECK(trial.refusal() != "converted");
  }
  const std::string good = kGraph;
  for (size_t size = 0; size + 1 < good.size(); size += 7) {
    trial.graph = good.substr(0, size);
    CHECK(trial.refusal() != "converted");
  }
}
