// Golden graph folders of recurrent layers and both recurrent decoders against PyTorch in float64 (tools/golden/decoders.py).
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "convert/json.h"
#include "support/converted.h"

namespace heed::testing {
namespace {

namespace fs = std::filesystem;
using tools::Json;

const char* const kFolders[] = {"gru", "gru_forward", "lstm", "bahdanau", "luong_dot", "luong_general", "luong_concat"};

fs::path golden(const std::string& name) { return fs::path(HEED_SOURCE_DIR) / "tests/golden/decoders" / name; }

Json passes_of(const std::string& name) {
  const tools::MappedFile file(golden(name) / "passes.json");
  return Json::parse(file.text());
}

using Rows = std::vector<std::vector<double>>;

// What a pass gives to the session; lives as long as the inputs point into it.
struct Pass {
  explicit Pass(const Json& json) : name(json["input"]), lengths(json["lengths"]) {
    if (json.contains("ids")) ids = json["ids"].get<std::vector<int32_t>>();
    if (!json.contains("rows")) return;
    for (const Json& row : json["rows"]) {
      for (const Json& x : row) values.push_back(x.get<float>());
    }
  }
  heed_input input() const {
    uint32_t rows = 0;
    for (uint32_t length : lengths) rows += length;
    const void* data = ids.empty() ? static_cast<const void*>(values.data()) : ids.data();
    return {name.c_str(), data, rows, lengths.data()};
  }
  std::string name;
  std::vector<uint32_t> lengths;
  std::vector<int32_t> ids;
  std::vector<float> values;
};

struct Tapped {
  std::map<uint32_t, std::vector<float>> rows;  // by sequence
};

// Runs all passes in one session. Calls see(pass, output, tapped weights) for each.
template <class See>
void run_all(const AlignedBytes& file, const Json& passes, const Options& options, const See& see) {
  TestSession session(file, options);
  Tapped tapped;
  session.tap_context = &tapped;
  session.tap = [](void* context, uint32_t, uint32_t sequence, uint32_t, uint32_t, uint32_t, uint32_t count,
                   const float* weights) {
    std::vector<float>& row = static_cast<Tapped*>(context)->rows[sequence];
    row.insert(row.end(), weights, weights + count);
  };
  for (const Json& json : passes) {
    const Pass pass(json);
    tapped.rows.clear();
    const std::string graph = json["graph"];
    const Output y = session.run({pass.input()}, static_cast<uint32_t>(pass.lengths.size()), graph.c_str());
    see(json, y, tapped);
  }
}

void check_close(const Json& pass, const Output& y) {
  const Rows expected = pass["expected"].get<Rows>();
  REQUIRE(y.rows == expected.size());
  REQUIRE(y.features == expected[0].size());
  double largest = 0;
  double error = 0;
  for (uint32_t r = 0; r < y.rows; ++r) {
    for (uint32_t c = 0; c < y.features; ++c) {
      largest = std::max(largest, std::abs(expected[r][c]));
      error = std::max(error, std::abs(expected[r][c] - static_cast<double>(y.at(r, c))));
    }
  }
  CHECK(error <= std::max(2 * pass["float32_error"].get<double>(), 2e-6 * largest));
}

void check_weights(const Json& pass, const Tapped& tapped) {
  if (!pass.contains("weights")) return;
  const Rows expected = pass["weights"].get<Rows>();
  REQUIRE(tapped.rows.size() == expected.size());
  for (uint32_t s = 0; s < expected.size(); ++s) {
    const std::vector<float>& row = tapped.rows.at(s);
    REQUIRE(row.size() == expected[s].size());
    for (size_t k = 0; k < row.size(); ++k) CHECK(row[k] == Approx(expected[s][k]).margin(2e-6));
  }
}

Options options_for(uint32_t workers, const char* isa) {
  return {.rows = 16, .sequences = 3, .workers = workers, .tile_rows = 8, .isa = isa};
}

}  // namespace

TEST_CASE("GRU, LSTM, Bahdanau's and Luong's decoders are as near to float64 as PyTorch's float32, and so are tapped weights (HEAT-02)") {
  for (const char* name : kFolders) {
    const AlignedBytes file = converted(golden(name), "f32");
    const Json passes = passes_of(name);
    INFO(name);
    run_all(file, passes, options_for(1, "ref"), [](const Json& pass, const Output& y, const Tapped& tapped) {
      check_close(pass, y);
      check_weights(pass, tapped);
    });
  }
}

TEST_CASE("Recurrent decoders in int8 keep 26 dB, with the same bits on every instruction set and number of workers") {
  for (const char* name : kFolders) {
    for (const char* weights : {"f32", "q8c"}) {
      const AlignedBytes file = converted(golden(name), weights);
      const Json passes = passes_of(name);
      std::vector<Output> ref;
      INFO(name << " " << weights);
      run_all(file, passes, options_for(1, "ref"), [&](const Json& pass, const Output& y, const Tapped&) {
        const Rows expected = pass["expected"].get<Rows>();
        double signal = 0;
        double noise = 0;
        for (uint32_t r = 0; r < y.rows; ++r) {
          for (uint32_t c = 0; c < y.features; ++c) {
            const double difference = y.at(r, c) - expected[r][c];
            signal += expected[r][c] * expected[r][c];
            noise += difference * difference;
          }
        }
        CHECK(10 * std::log10(signal / noise) > 26);
        ref.push_back(y);
      });
      for (const std::string& isa : runnable_isas()) {
        for (uint32_t workers : {1, 2, 4}) {
          size_t at = 0;
          run_all(file, passes, options_for(workers, isa.c_str()),
                  [&](const Json&, const Output& y, const Tapped&) { REQUIRE(y == ref[at++]); });
        }
      }
    }
  }
}

}  // namespace heed::testing
