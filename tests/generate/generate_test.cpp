// heed_generate against searches in double precision (tools/golden/generate.py), and everything that it refuses.
// SPDX-License-Identifier: Apache-2.0
#include "heed/generate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>

#include "convert/json.h"
#include "support/converted.h"

namespace heed::testing {
namespace {

namespace fs = std::filesystem;
using tools::Json;

const char* const kModels[] = {"additive", "transformer"};
constexpr uint32_t kSteps = 16;  // that the transformer's state holds
constexpr size_t kGuard = 64;
constexpr uint8_t kPoison = 0xa5;

fs::path golden(const std::string& name) { return fs::path(HEED_SOURCE_DIR) / "tests/golden/generate" / name; }

Json cases_of(const std::string& name) {
  const tools::MappedFile file(golden(name) / "cases.json");
  return Json::parse(file.text());
}

heed_generate_options options_of(const Json& json) {
  return {sizeof(heed_generate_options), json["beams"].get<uint32_t>(), json["max_tokens"].get<uint32_t>(), json.value("min_tokens", 0u),
          json.value("length_penalty", 0.0f), 1, 2, json.value("forced_first", HEED_NO_TOKEN), json.value("forced_last", HEED_NO_TOKEN),
          json.value("no_repeat", 0u)};
}

struct Generated {
  std::vector<uint32_t> tokens;
  std::vector<float> log_probabilities;
  float score = 0;
  bool stopped = false;
  bool operator==(const Generated& other) const {
    return tokens == other.tokens && log_probabilities == other.log_probabilities && score == other.score && stopped == other.stopped;
  }
};

// With a block of exactly the bytes needed, between guards.
Generated generate(TestSession& session, const heed_generate_options& options, const std::vector<int32_t>& source) {
  uint64_t bytes = 0;
  REQUIRE(heed_generate_bytes(&options, &bytes, nullptr) == HEED_OK);
  AlignedBytes block(bytes + 2 * kGuard, kPoison);
  const heed_generation task{&options, source.data(), static_cast<uint32_t>(source.size()), block.data() + kGuard, bytes};
  heed_generated output;
  heed_diagnostic diagnostic;
  const heed_status status = heed_generate(&session.session, &task, &output, &diagnostic);
  INFO(heed_status_text(status) << ": " << (diagnostic.what ? diagnostic.what : ""));
  REQUIRE(status == HEED_OK);
  for (size_t i = 0; i < kGuard; ++i) {
    CHECK(block[i] == kPoison);
    CHECK(block[block.size() - 1 - i] == kPoison);
  }
  return {{output.tokens, output.tokens + output.count}, {output.log_probabilities, output.log_probabilities + output.count}, output.score,
          output.stopped != 0};
}

Options session_options(uint32_t beams, uint32_t workers = 1, const char* isa = nullptr) {
  return {.rows = 16, .sequences = beams, .workers = workers, .tile_rows = 8, .isa = isa, .beams = beams};
}

// A task that works, to change one thing in.
struct Task {
  explicit Task(const heed_model& model) {
    heed_default_generate_options(&model, &options);
    options.start_token = 1;
    options.stop_token = 2;
    uint64_t bytes = 0;
    heed_generate_options most = options;
    most.beams = 4;
    REQUIRE(heed_generate_bytes(&most, &bytes, nullptr) == HEED_OK);
    block.resize(bytes);
  }
  heed_status run(TestSession& session) {
    const heed_generation task{&options, source.data(), static_cast<uint32_t>(source.size()), block.data(), block.size()};
    heed_generated output;
    return heed_generate(&session.session, &task, &output, &diagnostic);
  }
  heed_generate_options options;
  std::vector<int32_t> source = {3, 1, 4};
  AlignedBytes block;
  heed_diagnostic diagnostic{};
};

// Attention weights by (node, head, query).
using Weights = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<float>>;

void keep_weights(void* context, uint32_t node, uint32_t sequence, uint32_t head, uint32_t query, uint32_t first_key, uint32_t count,
                  const float* weights) {
  CHECK(sequence == 0);
  std::vector<float>& row = (*static_cast<Weights*>(context))[{node, head, query}];
  CHECK(row.size() == first_key);
  row.insert(row.end(), weights, weights + count);
}

}  // namespace

TEST_CASE("Outputs are those of a search in double precision: beams, penalties, n-grams, forced tokens, lengths") {
  for (const char* name : kModels) {
    const AlignedBytes file = converted(golden(name), "f32");
    const Json cases = cases_of(name);
    CHECK(cases.size() >= 60);
    for (const Json& json : cases) {
      const heed_generate_options options = options_of(json);
      TestSession session(file, session_options(options.beams));
      const Generated found = generate(session, options, json["source"].get<std::vector<int32_t>>());
      INFO(name << " " << json.dump());
      CHECK(found.tokens == json["tokens"].get<std::vector<uint32_t>>());
      CHECK(found.stopped == json["stopped"].get<bool>());
      CHECK(found.score == Approx(json["score"].get<double>()).margin(2e-5));
      REQUIRE(found.log_probabilities.size() == json["logs"].size());
      for (size_t i = 0; i < found.tokens.size(); ++i) {
        CHECK(found.log_probabilities[i] == Approx(json["logs"][i].get<double>()).margin(1e-5));
      }
    }
  }
}

TEST_CASE("The same tokens and scores on every instruction set, number of workers and second search") {
  for (const char* name : kModels) {
    for (const char* weights : {"f32", "q8c"}) {
      const AlignedBytes file = converted(golden(name), weights);
      for (const Json& json : cases_of(name)) {
        const heed_generate_options options = options_of(json);
        const std::vector<int32_t> source = json["source"];
        TestSession first(file, session_options(options.beams, 1, "ref"));
        const Generated expected = generate(first, options, source);
        CHECK(generate(first, options, source) == expected);
        for (const std::string& isa : runnable_isas()) {
          for (const uint32_t workers : {1u, 4u}) {
            TestSession session(file, session_options(options.beams, workers, isa.c_str()));
            INFO(name << " " << weights << " " << isa << " " << json.dump());
            CHECK(generate(session, options, source) == expected);
          }
        }
      }
    }
  }
}

TEST_CASE("A session with room for more beams gives the same") {
  for (const char* name : kModels) {
    const AlignedBytes file = converted(golden(name), "f32");
    for (const Json& json : cases_of(name)) {
      const heed_generate_options options = options_of(json);
      if (options.beams > 3) continue;
      TestSession exact(file, session_options(options.beams));
      TestSession wide(file, session_options(8));
      CHECK(generate(exact, options, json["source"]) == generate(wide, options, json["source"]));
    }
  }
}

TEST_CASE("HEAT-03 Looking at the attention of an output changes nothing, and each row adds up to 1") {
  for (const char* name : kModels) {
    const AlignedBytes file = converted(golden(name), "f32");
    TestSession session(file, session_options(4));
    Task task(session.model);
    task.options.beams = 4;
    task.options.min_tokens = 4;
    const Generated before = generate(session, task.options, task.source);
    REQUIRE(before.tokens.size() >= 4);
    const heed_generation generation{&task.options, task.source.data(), 3, nullptr, 0};
    Weights weights;
    const heed_retrace_tap tap{keep_weights, &weights};
    REQUIRE(heed_retrace(&session.session, &generation, before.tokens.data(), static_cast<uint32_t>(before.tokens.size()), &tap, nullptr) == HEED_OK);
    uint32_t rows_of_source = 0;
    for (const auto& [place, row] : weights) {
      double sum = 0;
      for (const float weight : row) sum += weight;
      CHECK(sum == Approx(1).margin(1e-5));
      CHECK(std::get<2>(place) < before.tokens.size());
      if (std::get<0>(place) != 2) continue;  // the third node of both models looks at the source
      CHECK(row.size() == 3);
      ++rows_of_source;
    }
    CHECK(rows_of_source >= before.tokens.size());
    CHECK(generate(session, task.options, task.source) == before);
  }
}

TEST_CASE("A block that is too small, misaligned or missing is refused with the bytes needed") {
  const AlignedBytes file = converted(golden("additive"), "f32");
  TestSession session(file, session_options(2));
  Task task(session.model);
  task.options.beams = 2;
  uint64_t bytes = 0;
  REQUIRE(heed_generate_bytes(&task.options, &bytes, nullptr) == HEED_OK);
  CHECK(bytes % HEED_ALIGNMENT == 0);
  for (const uint64_t given : {uint64_t{0}, uint64_t{1}, bytes / 2, bytes - 1}) {
    heed_generation generation{&task.options, task.source.data(), 3, task.block.data(), given};
    heed_generated output;
    CHECK(heed_generate(&session.session, &generation, &output, &task.diagnostic) == HEED_BUFFER_TOO_SMALL);
    CHECK(task.diagnostic.bytes_needed == static_cast<int64_t>(bytes));
  }
  heed_generated output;
  heed_generation none{&task.options, task.source.data(), 3, nullptr, bytes};
  CHECK(heed_generate(&session.session, &none, &output, nullptr) == HEED_BUFFER_TOO_SMALL);
  heed_generation odd{&task.options, task.source.data(), 3, task.block.data() + 4, bytes};
  CHECK(heed_generate(&session.session, &odd, &output, nullptr) == HEED_MISALIGNED);
  CHECK(task.run(session) == HEED_OK);
}

TEST_CASE("KV-05 More beams, tokens or input than the limits allow are refused, and the session stays usable") {
  for (const char* name : kModels) {
    const AlignedBytes file = converted(golden(name), "f32");
    TestSession session(file, session_options(2));
    Task task(session.model);
    const auto refused = [&](heed_status wanted, int64_t found, int64_t expected) {
      CHECK(task.run(session) == wanted);
      CHECK(task.diagnostic.found == found);
      CHECK(task.diagnostic.expected == expected);
      task = Task(session.model);
      CHECK(task.run(session) == HEED_OK);
    };
    task.options.beams = 3;
    refused(HEED_TOO_LONG, 3, 2);
    task.source.assign(13, 1);
    refused(HEED_TOO_LONG, 13, 12);
    task.source.assign(10000, 1);
    refused(HEED_TOO_LONG, 10000, 16);
    if (std::string(name) != "transformer") continue;
    task.options.max_tokens = kSteps + 1;
    task.block.resize(100000);
    refused(HEED_TOO_LONG, kSteps + 1, kSteps);
  }
}

TEST_CASE("Wrong options, ids and sessions are refused by name") {
  const AlignedBytes file = converted(golden("additive"), "f32");
  TestSession session(file, session_options(2));
  Task task(session.model);
  const auto refused = [&](heed_status wanted) {
    CHECK(task.run(session) == wanted);
    CHECK(task.diagnostic.what != nullptr);
    task = Task(session.model);
  };
  task.options.size = 4;
  refused(HEED_INVALID_ARGUMENT);
  task.options.beams = 0;
  refused(HEED_INVALID_ARGUMENT);
  task.options.beams = 1025;
  refused(HEED_INVALID_ARGUMENT);
  task.options.max_tokens = 0;
  refused(HEED_INVALID_ARGUMENT);
  task.options.length_penalty = std::nanf("");
  refused(HEED_INVALID_ARGUMENT);
  task.options.forced_first = 11;
  refused(HEED_INVALID_ARGUMENT);
  task.options.early_stopping = 3;
  refused(HEED_INVALID_ARGUMENT);
  task.options.suppressed_count = 1;  // and no list
  refused(HEED_INVALID_ARGUMENT);
  task.options.start_token = HEED_NO_TOKEN;
  refused(HEED_INVALID_ARGUMENT);
  task.options.start_token = 11;
  refused(HEED_BAD_INPUT);
  task.source = {3, 9};
  refused(HEED_BAD_INPUT);
  task.source = {};
  refused(HEED_INVALID_ARGUMENT);
  heed_generated output;
  CHECK(heed_generate(nullptr, nullptr, &output, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_generate(&session.session, nullptr, &output, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_generate(&session.session, nullptr, nullptr, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_generate_bytes(nullptr, nullptr, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(task.run(session) == HEED_OK);
}

TEST_CASE("A model without decode is refused by name") {
  ModelBuilder builder;
  builder.graph().name = "encode";
  const uint16_t ids = builder.ids("tokens", 8);
  schema::NodeT embed;
  embed.token = builder.table(random_plain(5, 8, 1), schema::Format::f32);
  builder.output("rows", builder.node(schema::OpKind::Embed, {ids}, embed));
  const AlignedBytes file = builder.finish();
  TestSession session(file, {});
  Task task(session.model);
  CHECK(task.run(session) == HEED_UNSUPPORTED);
  CHECK_THAT(task.diagnostic.what, Catch::Contains("decode"));
}

}  // namespace heed::testing
