// The converter's own float evaluation against PyTorch in float64 (tests/golden): recurrent layers and decoders, MarianMT, BART, T5.
// SPDX-License-Identifier: Apache-2.0
#include "convert/evaluate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "convert/front_ends/front_end.h"
#include "convert/json.h"
#include "files.h"

namespace heed::testing {
namespace {

namespace fs = std::filesystem;
using tools::Evaluator;
using tools::Json;
using tools::KeptStates;
using tools::Spec;
using tools::Values;

fs::path golden(const std::string& name) { return fs::path(HEED_SOURCE_DIR) / "tests/golden" / name; }

Json read(const fs::path& path) {
  const tools::MappedFile file(path);
  return Json::parse(file.text());
}

const schema::GraphT& graph_named(const Spec& spec, const std::string& name) {
  for (const auto& graph : spec.model.graphs) {
    if (graph->name == name) return *graph;
  }
  FAIL("no graph " + name);
  return *spec.model.graphs[0];
}

Values ids_of(const std::vector<int32_t>& ids) { return {static_cast<uint32_t>(ids.size()), 0, {}, ids}; }

// The one output of a graph.
Values run(const Evaluator& evaluator, const schema::GraphT& graph, const Values& input, KeptStates& states) {
  return evaluator.run(graph, {{graph.inputs.at(0)->name, input}}, states).begin()->second;
}

void check_rows(const Values& found, const Json& expected, size_t first) {
  for (size_t r = 0; r < found.rows; ++r) {
    const Json& row = expected.at(first + r);
    REQUIRE(row.size() == found.features);
    for (size_t c = 0; c < row.size(); ++c) REQUIRE(double{found.row(r)[c]} == Approx(row[c].get<double>()).margin(2e-5));
  }
}

// The part of a pass's input that one of its sequences has.
Values part_of(const Json& pass, size_t first, size_t count) {
  if (pass.contains("ids")) {
    const auto ids = pass["ids"].get<std::vector<int32_t>>();
    return ids_of({ids.begin() + static_cast<ptrdiff_t>(first), ids.begin() + static_cast<ptrdiff_t>(first + count)});
  }
  Values values{static_cast<uint32_t>(count), static_cast<uint32_t>(pass["rows"][0].size()), {}, {}};
  for (size_t r = first; r < first + count; ++r) {
    for (const Json& x : pass["rows"][r]) values.data.push_back(x.get<float>());
  }
  return values;
}

}  // namespace

TEST_CASE("The converter evaluates GRU, LSTM, Bahdanau's and Luong's decoders as PyTorch does") {
  for (const char* name : {"gru", "gru_forward", "lstm", "bahdanau", "luong_dot", "luong_general", "luong_concat"}) {
    const fs::path folder = golden("decoders") / name;
    INFO(name);
    const Spec spec = tools::read_graph_folder(folder);
    const Evaluator evaluator(spec);
    std::map<size_t, KeptStates> states;  // of each sequence
    for (const Json& pass : read(folder / "passes.json")) {
      size_t first = 0;
      const auto lengths = pass["lengths"].get<std::vector<size_t>>();
      for (size_t s = 0; s < lengths.size(); first += lengths[s++]) {
        check_rows(run(evaluator, graph_named(spec, pass["graph"]), part_of(pass, first, lengths[s]), states[s]), pass["expected"], first);
      }
    }
  }
}

TEST_CASE("The converter evaluates MarianMT, BART and T5 as PyTorch does, a token at a time and all at once") {
  for (const char* name : {"marian", "marian_apart", "bart", "t5", "t5_gated"}) {
    const fs::path folder = golden("encoder_decoders") / name;
    INFO(name);
    const Spec spec = tools::read_huggingface(folder);
    const Evaluator evaluator(spec);
    for (const Json& pass : read(folder / "logits.json")) {
      KeptStates whole;
      run(evaluator, graph_named(spec, "encode"), ids_of(pass["source"]), whole);
      KeptStates stepped = whole;
      check_rows(run(evaluator, graph_named(spec, "decode"), ids_of(pass["target"]), whole), pass["expected"], 0);
      size_t at = 0;
      for (const int32_t id : pass["target"].get<std::vector<int32_t>>()) {
        check_rows(run(evaluator, graph_named(spec, "decode"), ids_of({id}), stepped), pass["expected"], at++);
      }
    }
  }
}

}  // namespace heed::testing
