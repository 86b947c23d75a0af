// States between runs: keys that are appended, keys written once, recurrent rows; reset, reorder, overflow, sizes.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

#include "support/test_session.h"

namespace heed::testing {
namespace {

using schema::Format;
using schema::OpKind;
using schema::StateKind;

constexpr uint32_t kFeatures = 24;

schema::StateT key_state(StateKind kind, Format format, uint32_t rows = 0) {
  schema::StateT state;
  state.kind = kind;
  state.heads = 2;
  state.features = 12;
  state.value_features = 10;
  state.rows = rows;
  state.format = format;
  return state;
}

schema::NodeT attention_node(ModelBuilder& builder, Format format) {
  const auto matrix = [&](uint32_t rows, uint32_t cols, uint32_t seed) {
    return builder.matrix(random_plain(rows, cols, seed, 0.3f), format, random_plain(1, rows, seed + 40, 0.3f).values);
  };
  schema::NodeT node;
  node.query = matrix(48, kFeatures, 1);
  node.key = matrix(24, kFeatures, 2);
  node.value = matrix(20, kFeatures, 3);
  node.output = matrix(kFeatures, 40, 4);
  node.heads = 4;
  node.kv_heads = 2;
  node.head_dim = 12;
  node.value_dim = 10;
  node.scale = 0.3f;
  node.causal = true;
  node.residual = true;
  return node;
}

// Two causal layers, over keys that a state keeps or not; with a window each row sees `window` keys.
AlignedBytes decoder(Format format, bool keeps, uint32_t rows = 0, int32_t window = 0) {
  ModelBuilder builder;
  uint16_t value = builder.floats("x", kFeatures, 200);
  for (int layer = 0; layer < 2; ++layer) {
    schema::NodeT node = attention_node(builder, format);
    node.window_left = window - 1;
    if (keeps) node.state = builder.state(key_state(StateKind::kv_append, format, rows));
    value = builder.node(OpKind::Attention, {value}, node);
  }
  builder.output("y", value);
  return builder.finish();
}

Plain some_rows(const Plain& all, uint32_t begin, uint32_t count) {
  const auto first = all.values.begin() + static_cast<long>(begin) * all.cols;
  return {count, all.cols, {first, first + static_cast<long>(count) * all.cols}};
}

// One sequence in pieces; the outputs one after another.
Output run_pieces(TestSession& session, const Plain& x, const std::vector<uint32_t>& pieces) {
  Output all;
  uint32_t at = 0;
  for (uint32_t piece : pieces) {
    const Plain rows = some_rows(x, at, piece);
    const Output part = session.run({floats_input("x", rows)});
    all.rows += part.rows;
    all.features = part.features;
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    at += piece;
  }
  return all;
}

struct Setting {
  Format format;
  uint32_t precision;
};
const Setting kSettings[] = {{Format::f32, HEED_PRECISION_AUTO},
                             {Format::f32, HEED_PRECISION_INT8},
                             {Format::q8c, HEED_PRECISION_AUTO},
                             {Format::q8c, HEED_PRECISION_F32}};

}  // namespace

TEST_CASE("A text run in pieces behind kept keys has the bits of the text run at once") {
  const Plain x = random_plain(133, kFeatures, 50);
  for (const Setting& setting : kSettings) {
    const AlignedBytes whole = decoder(setting.format, false);
    const AlignedBytes keeping = decoder(setting.format, true);
    for (const std::string& isa : runnable_isas()) {
      TestSession at_once(whole, {.tile_rows = 8, .precision = setting.precision, .isa = isa.c_str()});
      const Output expected = at_once.run({floats_input("x", x)});
      for (const std::vector<uint32_t>& pieces :
           {std::vector<uint32_t>(133, 1u), {133}, {70, 1, 62}, {1, 63, 1, 64, 4}, {16, 16, 101}}) {
        TestSession session(keeping, {.workers = 2, .tile_rows = 8, .precision = setting.precision, .isa = isa.c_str(),
                                      .context = 133});
        INFO(isa << " " << schema::EnumNameFormat(setting.format) << " " << setting.precision << ", first piece " << pieces[0]);
        REQUIRE(run_pieces(session, x, pieces) == expected);
      }
    }
  }
}

TEST_CASE("Sequences of a pass keep keys of their own, as many as each has had") {
  const Plain x = random_plain(120, kFeatures, 50);
  const uint32_t lengths[][3] = {{7, 1, 30}, {1, 12, 3}, {20, 40, 6}};
  const uint32_t totals[] = {28, 53, 39};
  for (const Setting& setting : kSettings) {
    const AlignedBytes file = decoder(setting.format, true);
    const AlignedBytes stateless = decoder(setting.format, false);
    TestSession together(file, {.sequences = 3, .precision = setting.precision, .context = 60});
    std::vector<Output> rows(3);
    uint32_t at = 0;
    for (const auto& pass : lengths) {
      const uint32_t count = pass[0] + pass[1] + pass[2];
      const Output y = together.run({floats_input("x", some_rows(x, at, count), pass)}, 3);
      for (uint32_t s = 0, row = 0; s < 3; row += pass[s++]) {
        rows[s].values.insert(rows[s].values.end(), y.values.begin() + row * kFeatures,
                              y.values.begin() + (row + pass[s]) * kFeatures);
      }
      at += count;
    }
    for (uint32_t s = 0; s < 3; ++s) {
      Plain own{totals[s], kFeatures, {}};
      uint32_t begin = 0;
      for (const auto& pass : lengths) {
        const uint32_t first = begin + std::accumulate(pass, pass + s, 0u);
        const Plain part = some_rows(x, first, pass[s]);
        own.values.insert(own.values.end(), part.values.begin(), part.values.end());
        begin += pass[0] + pass[1] + pass[2];
      }
      TestSession alone(stateless, {.precision = setting.precision});
      REQUIRE(alone.run({floats_input("x", own)}).values == rows[s].values);
    }
  }
}

TEST_CASE("KV-05: more rows than a state holds are refused with both numbers, and the state stays usable") {
  for (uint32_t context : {1u, 15u, 16u, 20u, 64u, 65u}) {
    for (const Setting& setting : kSettings) {
      const AlignedBytes file = decoder(setting.format, true);
      const Plain x = random_plain(2 * context + 1, kFeatures, 50);
      TestSession session(file, {.precision = setting.precision, .context = context});
      TestSession fresh(file, {.precision = setting.precision, .context = context});
      const uint32_t first = context / 2;
      if (first > 0) session.run({floats_input("x", some_rows(x, 0, first))});
      for (uint32_t more : {context - first + 1, 2 * context - first}) {
        if (more <= context - first) continue;
        const std::vector<uint8_t> before(session.arena(), session.arena() + session.memory.persistent_bytes);
        heed_diagnostic diagnostic{};
        REQUIRE(session.run_status({floats_input("x", some_rows(x, first, more))}, 1, &diagnostic) == HEED_TOO_LONG);
        CHECK(diagnostic.found == first + more);
        CHECK(diagnostic.expected == context);
        CHECK(std::string(diagnostic.what) == "rows of a state");
      }
      const Output rest = session.run({floats_input("x", some_rows(x, first, context - first))});
      const Output all = fresh.run({floats_input("x", some_rows(x, 0, context))});
      CHECK(std::vector<float>(all.values.begin() + first * kFeatures, all.values.end()) == rest.values);
      CHECK(session.run_status({floats_input("x", some_rows(x, 0, 1))}) == HEED_TOO_LONG);
    }
  }
}

TEST_CASE("Reset empties states: the second text has the bits of a new session") {
  const Plain x = random_plain(40, kFeatures, 50);
  for (const Setting& setting : kSettings) {
    const AlignedBytes file = decoder(setting.format, true);
    TestSession session(file, {.precision = setting.precision, .context = 50});
    const Output first = run_pieces(session, x, {30, 10});
    REQUIRE(heed_reset(&session.session) == HEED_OK);
    CHECK(run_pieces(session, x, {3, 37}) == first);
    CHECK(heed_reset(nullptr) == HEED_INVALID_ARGUMENT);
  }
}

TEST_CASE("KV-02: after 20 rows with a window of 8 there is no way back to 6 of them but to run those again") {
  const Plain x = random_plain(40, kFeatures, 50);
  for (const Setting& setting : kSettings) {
    const AlignedBytes file = decoder(setting.format, true, 0, 8);
    TestSession fresh(file, {.precision = setting.precision, .context = 30});
    const Output expected = run_pieces(fresh, x, {6, 10});
    TestSession session(file, {.precision = setting.precision, .context = 30});
    session.run({floats_input("x", some_rows(x, 0, 20))});
    const Output behind = session.run({floats_input("x", some_rows(x, 6, 10))});
    CHECK_FALSE(std::equal(behind.values.begin(), behind.values.end(), expected.values.begin() + 6 * kFeatures));
    REQUIRE(heed_reset(&session.session) == HEED_OK);
    CHECK(run_pieces(session, x, {6, 10}) == expected);
    REQUIRE(heed_reorder(&session.session, nullptr, 0) == HEED_OK);
    CHECK(run_pieces(session, x, {6, 10}) == expected);
  }
}

TEST_CASE("KV-03: a window of 8 gives the same bits one row at a time, in batches and at once") {
  const Plain x = random_plain(60, kFeatures, 50);
  for (const Setting& setting : kSettings) {
    const AlignedBytes file = decoder(setting.format, true, 0, 8);
    const AlignedBytes stateless = decoder(setting.format, false, 0, 8);
    for (const std::string& isa : runnable_isas()) {
      TestSession whole(stateless, {.precision = setting.precision, .isa = isa.c_str()});
      const Output expected = whole.run({floats_input("x", x)});
      std::vector<uint32_t> single(41, 1u);
      single[0] = 20;
      for (const std::vector<uint32_t>& pieces : {single, {20, 40}, {4, 7, 9, 8, 16, 16}}) {
        TestSession session(file, {.tile_rows = 8, .precision = setting.precision, .isa = isa.c_str(), .context = 60});
        INFO(isa << " " << schema::EnumNameFormat(setting.format) << " " << setting.precision << ", pieces " << pieces.size());
        REQUIRE(run_pieces(session, x, pieces) == expected);
      }
    }
  }
}

TEST_CASE("KV-06: counts and parents outside the session's are refused, and its states stay") {
  const Plain x = random_plain(40, kFeatures, 50);
  const AlignedBytes file = decoder(Format::q8c, true);
  TestSession undisturbed(file, {.sequences = 3, .context = 40});
  const Output expected = run_pieces(undisturbed, x, {30, 10});
  TestSession session(file, {.sequences = 3, .context = 40});
  session.run({floats_input("x", some_rows(x, 0, 30))});
  const std::vector<uint32_t> parents(4, 0u);
  for (const int64_t count : {int64_t{-1}, int64_t{4}, int64_t{31}, int64_t{std::numeric_limits<int32_t>::min()}}) {
    INFO("count " << count);
    CHECK(heed_reorder(&session.session, parents.data(), static_cast<uint32_t>(count)) == HEED_INVALID_ARGUMENT);
  }
  for (const int64_t parent : {int64_t{-1}, int64_t{3}, int64_t{std::numeric_limits<int32_t>::min()}}) {
    const uint32_t wrong[] = {1, static_cast<uint32_t>(parent), 0};
    INFO("parent " << parent);
    CHECK(heed_reorder(&session.session, wrong, 3) == HEED_INVALID_ARGUMENT);
  }
  const Output rest = session.run({floats_input("x", some_rows(x, 30, 10))});
  CHECK(std::equal(rest.values.begin(), rest.values.end(), expected.values.begin() + 30 * kFeatures));
}

TEST_CASE("Nothing of a text that was not a number is left behind by reset or reorder") {
  const Plain x = random_plain(40, kFeatures, 50);
  Plain broken = random_plain(50, kFeatures, 51);
  for (uint32_t r = 0; r < 50; r += 3) broken.at(r, r % kFeatures) = std::numeric_limits<float>::quiet_NaN();
  for (const Setting& setting : kSettings) {
    const AlignedBytes file = decoder(setting.format, true);
    for (const std::string& isa : runnable_isas()) {
      TestSession fresh(file, {.precision = setting.precision, .isa = isa.c_str(), .context = 50});
      const Output expected = run_pieces(fresh, x, {3, 37});
      TestSession session(file, {.sequences = 2, .precision = setting.precision, .isa = isa.c_str(), .context = 50});
      session.run({floats_input("x", broken)});
      const uint32_t empty[] = {1};
      REQUIRE(heed_reorder(&session.session, empty, 1) == HEED_OK);
      CHECK(run_pieces(session, x, {3, 37}) == expected);
      session.run({floats_input("x", some_rows(broken, 0, 10))});
      REQUIRE(heed_reset(&session.session) == HEED_OK);
      CHECK(run_pieces(session, x, {3, 37}) == expected);
    }
  }
}

TEST_CASE("Reorder makes hypotheses copies of their parents, duplicates too, and empties the rest") {
  const Plain x = random_plain(200, kFeatures, 50);
  const uint32_t lengths[] = {3, 70, 16, 1};
  const uint32_t orders[][4] = {{2, 2, 0, 2}, {3, 2, 1, 0}, {0, 0, 0, 0}, {1, 3, 3, 1}, {0, 1, 2, 3}};
  for (const Setting& setting : kSettings) {
    const AlignedBytes file = decoder(setting.format, true);
    for (const auto& parents : orders) {
      TestSession session(file, {.sequences = 4, .precision = setting.precision, .context = 80});
      session.run({floats_input("x", some_rows(x, 0, 90), lengths)}, 4);
      REQUIRE(heed_reorder(&session.session, parents, 4) == HEED_OK);
      const uint32_t ones[] = {1, 1, 1, 1};
      const Output next = session.run({floats_input("x", some_rows(x, 100, 4), ones)}, 4);
      for (uint32_t i = 0; i < 4; ++i) {
        TestSession alone(file, {.precision = setting.precision, .context = 80});
        const uint32_t begin = std::accumulate(lengths, lengths + parents[i], 0u);
        alone.run({floats_input("x", some_rows(x, begin, lengths[parents[i]]))});
        const Output expected = alone.run({floats_input("x", some_rows(x, 100 + i, 1))});
        CHECK(std::equal(expected.values.begin(), expected.values.end(), next.values.begin() + i * kFeatures));
      }
    }
  }
}

TEST_CASE("Reorder of fewer hypotheses empties the others; what it cannot do is refused and changes nothing") {
  const AlignedBytes file = decoder(Format::f32, true);
  const Plain x = random_plain(60, kFeatures, 50);
  TestSession session(file, {.sequences = 3, .context = 30});
  const uint32_t lengths[] = {5, 6, 7};
  session.run({floats_input("x", some_rows(x, 0, 18), lengths)}, 3);
  const uint32_t outside[] = {0, 3};
  CHECK(heed_reorder(&session.session, outside, 2) == HEED_INVALID_ARGUMENT);
  const uint32_t many[] = {0, 1, 2, 0};
  CHECK(heed_reorder(&session.session, many, 4) == HEED_INVALID_ARGUMENT);
  CHECK(heed_reorder(&session.session, nullptr, 1) == HEED_INVALID_ARGUMENT);
  CHECK(heed_reorder(nullptr, many, 1) == HEED_INVALID_ARGUMENT);
  const uint32_t last[] = {2};
  REQUIRE(heed_reorder(&session.session, last, 1) == HEED_OK);
  const uint32_t next[] = {2, 4, 3};
  const Output y = session.run({floats_input("x", some_rows(x, 18, 9), next)}, 3);
  TestSession alone(file, {.context = 30});
  alone.run({floats_input("x", some_rows(x, 11, 7))});
  const Output first = alone.run({floats_input("x", some_rows(x, 18, 2))});
  CHECK(std::equal(first.values.begin(), first.values.end(), y.values.begin()));
  TestSession empty(file, {.context = 30});
  const Output second = empty.run({floats_input("x", some_rows(x, 20, 4))});
  CHECK(std::equal(second.values.begin(), second.values.end(), y.values.begin() + 2 * kFeatures));
}

namespace {

// `encode` writes keys once for each source, `decode` reads them; or, as reference, one graph that has both inputs.
AlignedBytes translator(Format format, bool keeps, bool additive = false) {
  ModelBuilder builder;
  schema::NodeT node = attention_node(builder, format);
  node.causal = false;
  if (additive) {
    node.score = schema::ScoreKind::additive;
    node.score_weight = builder.norm(random_plain(1, 48, 9).values);
  }
  if (!keeps) {
    const uint16_t x = builder.floats("x", kFeatures, 100);
    builder.output("y", builder.node(OpKind::Attention, {x, builder.floats("source", kFeatures, 150, 1)}, node));
    return builder.finish();
  }
  builder.graph().name = "encode";
  schema::StateT keys = key_state(StateKind::kv_fixed, format);
  keys.score = node.score;
  const uint16_t source = builder.floats("source", kFeatures, 150);
  schema::NodeT keep;
  keep.key = node.key;
  keep.value = node.value;
  keep.state = builder.state(keys);
  builder.nodes(OpKind::KeyValue, {source}, 0, keep);
  builder.output("same", source);
  builder.add_graph("decode");
  node.key = node.value = -1;
  node.state = keep.state;
  builder.output("y", builder.node(OpKind::Attention, {builder.floats("x", kFeatures, 100)}, node));
  return builder.finish();
}

}  // namespace

TEST_CASE("Keys written once for each source serve every hypothesis of it, with the bits of cross-attention") {
  const Plain source = random_plain(160, kFeatures, 50);
  const Plain x = random_plain(60, kFeatures, 51);
  const uint32_t sources[] = {20, 140};
  const uint32_t lengths[] = {1, 7, 20, 3, 9, 1};
  for (bool additive : {false, true}) {
    for (const Setting& setting : kSettings) {
      const AlignedBytes file = translator(setting.format, true, additive);
      const AlignedBytes reference = translator(setting.format, false, additive);
      for (const std::string& isa : runnable_isas()) {
        TestSession session(file, {.rows = 200, .sequences = 6, .workers = 2, .precision = setting.precision,
                                   .isa = isa.c_str(), .beams = 3});
        heed_diagnostic diagnostic{};
        const Plain rows = some_rows(x, 0, 41);
        const std::vector<heed_input> queries = {floats_input("x", rows, lengths)};
        session.beams = 3;
        CHECK(session.run_status(queries, 6, &diagnostic, "decode") == HEED_INVALID_ARGUMENT);
        CHECK(std::string(diagnostic.what) == "state that is read before it is written");
        session.beams = 1;
        session.run({floats_input("source", source, sources)}, 2, "encode");
        session.beams = 3;
        for (int again = 0; again < 2; ++again) {
          const Output y = session.run(queries, 6, "decode");
          for (uint32_t s = 0, at = 0; s < 6; at += lengths[s++]) {
            TestSession alone(reference, {.rows = 200, .precision = setting.precision, .isa = isa.c_str()});
            const Plain own = some_rows(x, at, lengths[s]);
            const Plain from = s < 3 ? some_rows(source, 0, 20) : some_rows(source, 20, 140);
            const Output expected = alone.run({floats_input("x", own), floats_input("source", from)});
            REQUIRE(std::equal(expected.values.begin(), expected.values.end(), y.values.begin() + at * kFeatures));
          }
        }
      }
    }
  }
}

TEST_CASE("Beams that do not fit the pass, the limits or the sources are refused") {
  const AlignedBytes file = translator(Format::f32, true);
  TestSession session(file, {.rows = 200, .sequences = 4, .beams = 2});
  const Plain source = random_plain(30, kFeatures, 50);
  const uint32_t three[] = {10, 10, 10};
  heed_diagnostic diagnostic{};
  CHECK(session.run_status({floats_input("source", source, three)}, 3, &diagnostic, "encode") == HEED_TOO_LONG);
  CHECK(std::string(diagnostic.what) == "sources");
  session.beams = 2;
  CHECK(session.run_status({floats_input("source", source, three)}, 3, &diagnostic, "encode") == HEED_INVALID_ARGUMENT);
  const uint32_t two[] = {10, 20};
  CHECK(session.run_status({floats_input("source", source, two)}, 2, &diagnostic, "encode") == HEED_INVALID_ARGUMENT);
  CHECK(std::string(diagnostic.what) == "beams of a pass that writes sources");
  session.beams = 3;
  CHECK(session.run_status({floats_input("source", source, three)}, 3, &diagnostic, "encode") == HEED_TOO_LONG);
  session.beams = 1;
  CHECK(session.run_status({floats_input("source", source, two)}, 2, &diagnostic, "encode") == HEED_OK);
  heed_limits limits = session.limits;
  heed_memory memory;
  limits.beams = 5;
  CHECK(heed_required_bytes(&session.model, &limits, &memory, &diagnostic) == HEED_BAD_LIMITS);
}

namespace {

// A recurrent layer whose hidden row is kept, and a sum of all rows of a running total kept beside it.
AlignedBytes recurrent(bool keeps, uint32_t most) {
  ModelBuilder builder;
  schema::StateT state;
  state.kind = StateKind::recurrent;
  state.features = 20;
  schema::NodeT node;
  node.weight = builder.matrix(random_plain(60, kFeatures, 1, 0.3f), Format::f32);
  node.recurrent = builder.matrix(random_plain(60, 20, 2, 0.3f), Format::f32);
  const uint16_t x = builder.floats("x", kFeatures, most);
  if (!keeps) {
    builder.output("y", builder.node(OpKind::Recurrent, {x}, node));
    return builder.finish();
  }
  schema::NodeT kept;
  kept.state = builder.state(state);
  const uint16_t h = builder.node(OpKind::LoadState, {}, kept);
  const auto outputs = builder.nodes(OpKind::Recurrent, {x, h}, 2, node);
  builder.nodes(OpKind::StoreState, {outputs[1]}, 0, kept);
  builder.output("y", outputs[0]);
  return builder.finish();
}

}  // namespace

TEST_CASE("A recurrent row is kept between runs, moved by reorder, and zero after reset") {
  const Plain x = random_plain(40, kFeatures, 50);
  const AlignedBytes stateless = recurrent(false, 40);
  const AlignedBytes keeping = recurrent(true, 40);
  const AlignedBytes stepping = recurrent(true, 1);
  for (const std::string& isa : runnable_isas()) {
    TestSession whole(stateless, {.isa = isa.c_str()});
    const Output expected = whole.run({floats_input("x", x)});
    TestSession session(keeping, {.isa = isa.c_str()});
    for (int again = 0; again < 2; ++again) {
      CHECK(run_pieces(session, x, {1, 1, 30, 8}) == expected);
      CHECK_FALSE(run_pieces(session, x, {40}) == expected);
      REQUIRE(heed_reset(&session.session) == HEED_OK);
    }
    TestSession steps(stepping, {.rows = 3, .sequences = 3, .isa = isa.c_str()});
    const uint32_t ones[] = {1, 1, 1};
    steps.run({floats_input("x", some_rows(x, 0, 1), ones)}, 1);
    const uint32_t parents[] = {0, 0, 0};
    REQUIRE(heed_reorder(&steps.session, parents, 3) == HEED_OK);
    Plain same{3, kFeatures, {}};
    for (int i = 0; i < 3; ++i) same.values.insert(same.values.end(), &x.values[kFeatures], &x.values[2 * kFeatures]);
    const Output y = steps.run({floats_input("x", same, ones)}, 3);
    for (uint32_t s = 0; s < 3; ++s) {
      for (uint32_t c = 0; c < 20; ++c) REQUIRE(y.at(s, c) == expected.at(1, c));
    }
  }
}

TEST_CASE("Embed counts places behind the keys of a state") {
  for (bool keeps : {false, true}) {
    ModelBuilder builder;
    schema::NodeT embed;
    embed.token = builder.table(random_plain(30, kFeatures, 5), Format::f32);
    embed.position = builder.table(random_plain(25, kFeatures, 6), Format::f32);
    embed.position_offset = 2;
    schema::NodeT node = attention_node(builder, Format::f32);
    if (keeps) embed.state = node.state = builder.state(key_state(StateKind::kv_append, Format::f32, 23));
    const uint16_t rows = builder.node(OpKind::Embed, {builder.ids("tokens", 23)}, embed);
    builder.output("y", builder.node(OpKind::Attention, {rows}, node));
    const AlignedBytes file = builder.finish();
    TestSession session(file);
    CHECK(session.limits.max_context == (keeps ? 23 : 0));
    static std::vector<float> expected;
    std::vector<int32_t> ids(23);
    std::iota(ids.begin(), ids.end(), 3);
    if (!keeps) {
      expected = session.run({ids_input("tokens", ids)}).values;
      continue;
    }
    std::vector<float> got;
    for (uint32_t at = 0; at < 23; at += at < 5 ? 5 : 9) {
      const std::vector<int32_t> part(ids.begin() + at, ids.begin() + (at < 5 ? 5 : at + 9));
      const std::vector<float> y = session.run({ids_input("tokens", part)}).values;
      got.insert(got.end(), y.begin(), y.end());
    }
    CHECK(got == expected);
  }
}

TEST_CASE("The arena counts states to the byte") {
  const AlignedBytes file = decoder(Format::q8c, true);
  const AlignedBytes without = decoder(Format::q8c, false);
  for (uint32_t context : {1u, 16u, 100u, 1000u}) {
    for (uint32_t precision : {HEED_PRECISION_INT8, HEED_PRECISION_F32}) {
      TestSession session(file, {.rows = 50, .sequences = 3, .precision = precision, .context = context});
      TestSession stateless(without, {.rows = 50, .sequences = 3, .precision = precision});
      const uint64_t slots = 3ull * ((context + 15) / 16 * 16) * 2;  // of both key heads
      const auto round = [](uint64_t bytes) { return (bytes + 63) / 64 * 64; };
      uint64_t state = 64;  // lengths
      if (precision == HEED_PRECISION_INT8) {
        state += round(slots * 12) + round(slots * 16) + 4 * round(slots * 4);
      } else {
        state += round(slots * 12 * 4) + round(slots * 16 * 4);
      }
      CHECK(session.memory.state_bytes == 2 * state + 4 * 64);
      CHECK(session.memory.persistent_bytes == stateless.memory.persistent_bytes + session.memory.state_bytes);
      CHECK(stateless.memory.state_bytes == 0);
      AlignedBytes arena(session.memory.total_bytes);
      heed_session planned;
      heed_diagnostic diagnostic{};
      CHECK(heed_plan(&session.model, &session.limits, arena.data(), arena.size() - 1, nullptr, &planned, &diagnostic) ==
            HEED_ARENA_TOO_SMALL);
      CHECK(diagnostic.bytes_needed == static_cast<int64_t>(arena.size()));
      CHECK(heed_plan(&session.model, &session.limits, arena.data(), arena.size(), nullptr, &planned, nullptr) == HEED_OK);
    }
  }
  TestSession session(file);
  heed_limits limits = session.limits;
  heed_memory memory;
  limits.max_rows = limits.max_sequences = limits.max_context = 1u << 24;
  CHECK(heed_required_bytes(&session.model, &limits, &memory, nullptr) == HEED_TOO_LARGE);
  limits.max_context = 0;
  CHECK(heed_required_bytes(&session.model, &limits, &memory, nullptr) == HEED_BAD_LIMITS);
}

}  // namespace heed::testing
