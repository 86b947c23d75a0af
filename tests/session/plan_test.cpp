// The arena: exact to the byte, nothing touched outside, tight, and the same results whatever it held before.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "session/layout.h"
#include "support/encoder.h"
#include "support/test_session.h"

namespace heed::testing {
namespace {

heed_model open(const AlignedBytes& file) {
  heed_model model;
  REQUIRE(heed_open(file.data(), file.size(), 0, &model, nullptr) == HEED_OK);
  return model;
}

heed_memory required(const heed_model& model, const heed_limits& limits) {
  heed_memory memory;
  REQUIRE(heed_required_bytes(&model, &limits, &memory, nullptr) == HEED_OK);
  return memory;
}

// Sizes in the proportions of a real sentence encoder.
EncoderSize real_size(uint32_t max_rows) {
  return {.vocabulary = 100, .features = 384, .heads = 12, .hidden = 1536, .layers = 2, .max_rows = max_rows};
}

}  // namespace

TEST_CASE("Every arena size below the required one fails cleanly and says what is needed") {
  const AlignedBytes file = encoder({.features = 16, .heads = 2, .hidden = 16, .layers = 1, .max_rows = 4}).finish();
  const heed_model model = open(file);
  heed_limits limits;
  heed_default_limits(&model, &limits);
  const uint64_t needed = required(model, limits).total_bytes;
  AlignedBytes arena(needed + 64, 0xa5);
  const AlignedBytes untouched = arena;
  heed_session session;
  for (uint64_t bytes = 0; bytes < needed; ++bytes) {
    heed_diagnostic diagnostic;
    const heed_status status = heed_plan(&model, &limits, arena.data(), bytes, nullptr, &session, &diagnostic);
    REQUIRE(status == HEED_ARENA_TOO_SMALL);
    REQUIRE(diagnostic.bytes_needed == static_cast<int64_t>(needed));
    REQUIRE(session.model == nullptr);
  }
  REQUIRE(arena == untouched);
  REQUIRE(heed_plan(&model, &limits, arena.data(), needed, nullptr, &session, nullptr) == HEED_OK);
  REQUIRE(std::equal(arena.begin() + static_cast<long>(needed), arena.end(),
                     untouched.begin() + static_cast<long>(needed)));
}

TEST_CASE("A misaligned or missing arena is refused") {
  const AlignedBytes file = encoder().finish();
  const heed_model model = open(file);
  heed_limits limits;
  heed_default_limits(&model, &limits);
  const uint64_t needed = required(model, limits).total_bytes;
  AlignedBytes arena(needed + 64);
  heed_session session;
  for (size_t shift : {1u, 4u, 8u, 32u}) {
    CHECK(heed_plan(&model, &limits, arena.data() + shift, needed, nullptr, &session, nullptr) == HEED_MISALIGNED);
  }
  CHECK(heed_plan(&model, &limits, nullptr, needed, nullptr, &session, nullptr) == HEED_INVALID_ARGUMENT);
}

TEST_CASE("ARENA-08: results do not depend on what the arena held, and nearly all of it is used") {
  const EncoderSize size = real_size(128);
  const AlignedBytes file = encoder(size).finish();
  const std::vector<int32_t> ids = some_ids(128, size.vocabulary, 3);
  std::vector<Output> outputs;
  std::vector<AlignedBytes> arenas;
  for (uint8_t fill : {uint8_t{0x00}, uint8_t{0xff}, uint8_t{0xa5}}) {
    TestSession session(file, {.rows = 128, .tile_rows = 8, .fill = fill});
    for (int i = 0; i < 3; ++i) outputs.push_back(session.run({ids_input("tokens", ids)}));
    arenas.emplace_back(session.arena(), session.arena() + session.memory.total_bytes);
  }
  for (const Output& output : outputs) CHECK(output == outputs[0]);
  size_t written = 0;  // a byte that nobody wrote differs between the fills
  for (size_t i = 0; i < arenas[0].size(); ++i) written += arenas[0][i] != 0x00 || arenas[1][i] != 0xff;
  CHECK(static_cast<double>(written) / static_cast<double>(arenas[0].size()) >= 0.98);
}

TEST_CASE("A real encoder's sizes meet the memory targets") {
  const AlignedBytes file = encoder(real_size(512)).finish();
  const heed_model model = open(file);
  heed_limits limits;
  heed_default_limits(&model, &limits);
  limits.tile_rows = 8;
  limits.max_rows = 128;
  const heed_memory one = required(model, limits);
  CHECK(one.total_bytes <= 400 * 1024);
  limits.workers = 2;
  CHECK(required(model, limits).total_bytes - one.total_bytes <= 64 * 1024);
  limits.workers = 1;
  limits.max_rows = 512;
  const heed_memory long_text = required(model, limits);
  CHECK(long_text.total_bytes <= 1.3 * 1024 * 1024);
  for (const heed_memory& memory : {one, long_text}) {
    CHECK(static_cast<double>(memory.total_bytes) <= 1.03 * static_cast<double>(memory.live_peak_bytes));
    CHECK(memory.total_bytes == memory.persistent_bytes + memory.transient_bytes);
    CHECK(memory.transient_bytes == memory.activation_bytes + memory.workspace_bytes + memory.scratch_bytes);
    CHECK(memory.total_bytes % HEED_ALIGNMENT == 0);
  }
}

TEST_CASE("Scratch does not depend on the number of keys") {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 64, 4096);
  schema::NodeT attention;
  attention.query = attention.key = attention.value = attention.output =
      builder.matrix(random_plain(64, 64, 1), schema::Format::q8c);
  attention.heads = attention.kv_heads = 2;
  attention.head_dim = attention.value_dim = 32;
  builder.output("y", builder.node(schema::OpKind::Attention, {x}, attention));
  const AlignedBytes file = builder.finish();
  const heed_model attending = open(file);
  heed_limits limits;
  heed_default_limits(&attending, &limits);
  limits.max_rows = 64;
  const uint64_t few = required(attending, limits).scratch_bytes;
  limits.max_rows = 4096;
  CHECK(required(attending, limits).scratch_bytes == few);
}

TEST_CASE("ARENA-04: a residual that skips many layers stays what it was") {
  const auto run = [](int layers) {
    ModelBuilder builder;
    const uint16_t x = builder.floats("x", 16, 8);
    uint16_t y = x;
    for (int i = 0; i < layers; ++i) y = builder.node(schema::OpKind::Add, {y, x});
    builder.output("y", y);
    const AlignedBytes file = builder.finish();
    TestSession session(file);
    return session.run({floats_input("x", random_plain(8, 16, 5))});
  };
  const Plain x = random_plain(8, 16, 5);
  const Output once = run(1);
  const Output often = run(7);
  for (uint32_t r = 0; r < 8; ++r) {
    for (uint32_t c = 0; c < 16; ++c) {
      CHECK(once.at(r, c) == x.at(r, c) * 2);
      CHECK(often.at(r, c) == Approx(x.at(r, c) * 8).epsilon(1e-6));
    }
  }
}

TEST_CASE("ARENA-03: values that are needed at the same time never share room") {
  // Each value holds its own number, and every one is read again at the end, in another order than it was made.
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 20, 8);
  std::vector<uint16_t> values = {x};
  for (int i = 0; i < 12; ++i) values.push_back(builder.node(schema::OpKind::Add, {values.back(), x}));
  uint16_t sum = values[6];
  for (int i : {0, 12, 3, 9, 1, 11, 2, 10, 4, 8, 5, 7}) {
    sum = builder.node(schema::OpKind::Add, {sum, values[static_cast<size_t>(i)]});
  }
  builder.output("sum", sum);
  const AlignedBytes file = builder.finish();
  TestSession session(file, {.tile_rows = 8});
  const Plain ones{8, 20, std::vector<float>(160, 1.0f)};
  for (float value : session.run({floats_input("x", ones)}).values) CHECK(value == 13 * 14 / 2);
}

TEST_CASE("ARENA-06: inputs are not changed by a run") {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 16, 8);
  builder.output("y", builder.node(schema::OpKind::Add, {x, x}));
  const AlignedBytes file = builder.finish();
  TestSession session(file);
  const Plain input = random_plain(8, 16, 9);
  const Plain copy = input;
  const Output first = session.run({floats_input("x", input)});
  CHECK(input.values == copy.values);
  CHECK(session.run({floats_input("x", input)}) == first);
}

TEST_CASE("ARENA-07: a session whose arena was planned again for another one refuses to run") {
  const AlignedBytes file = encoder().finish();
  const heed_model model = open(file);
  heed_limits limits;
  heed_default_limits(&model, &limits);
  AlignedBytes arena(required(model, limits).total_bytes);
  heed_session first;
  heed_session second;
  REQUIRE(heed_plan(&model, &limits, arena.data(), arena.size(), nullptr, &first, nullptr) == HEED_OK);
  limits.max_rows = 10;
  REQUIRE(heed_plan(&model, &limits, arena.data(), arena.size(), nullptr, &second, nullptr) == HEED_OK);
  const std::vector<int32_t> ids = {1, 2, 3};
  const heed_input input = ids_input("tokens", ids);
  heed_pass pass{};
  pass.size = sizeof pass;
  pass.inputs_count = 1;
  pass.inputs = &input;
  CHECK(heed_run(&first, &pass, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_run(&second, &pass, nullptr) == HEED_OK);
  REQUIRE(heed_plan(&model, &limits, arena.data(), arena.size(), nullptr, &first, nullptr) == HEED_OK);  // the same limits
  CHECK(heed_run(&second, &pass, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_run(&first, &pass, nullptr) == HEED_OK);
}

TEST_CASE("ARENA-07: two models may share one transient block and take turns") {
  const AlignedBytes files[] = {encoder({.max_rows = 40}).finish(),
                                encoder({.features = 48, .heads = 2, .hidden = 32, .max_rows = 64}).finish()};
  const std::vector<int32_t> ids = some_ids(20, 50, 1);
  const heed_input input = ids_input("tokens", ids);
  heed_pass pass{};
  pass.size = sizeof pass;
  pass.inputs_count = 1;
  pass.inputs = &input;
  heed_model models[2];
  heed_session sessions[2];
  AlignedBytes persistent[2];
  Output alone[2];
  AlignedBytes shared(1 << 20, 0xff);
  for (int i = 0; i < 2; ++i) {
    alone[i] = TestSession(files[i]).run({input});
    models[i] = open(files[i]);
    heed_limits limits;
    heed_default_limits(&models[i], &limits);
    const heed_memory memory = required(models[i], limits);
    persistent[i].resize(memory.persistent_bytes);
    REQUIRE(memory.transient_bytes <= shared.size());
    REQUIRE(heed_plan_split(&models[i], &limits, persistent[i].data(), persistent[i].size(), shared.data(),
                            memory.transient_bytes, nullptr, &sessions[i], nullptr) == HEED_OK);
  }
  for (int turn = 0; turn < 100; ++turn) {
    heed_session& session = sessions[turn % 2];
    REQUIRE(heed_run(&session, &pass, nullptr) == HEED_OK);
    heed_output output;
    REQUIRE(heed_get_output(&session, 0, &output) == HEED_OK);
    REQUIRE(std::memcmp(output.data, alone[turn % 2].values.data(), output.features * sizeof(float)) == 0);
  }
}

TEST_CASE("ARENA-09: graphs of one file have plans of their own, and the arena is the largest") {
  ModelBuilder builder = encoder({.max_rows = 16});
  builder.add_graph("square");
  const uint16_t x = builder.floats("x", 128, 64);
  builder.output("y", builder.node(schema::OpKind::Mul, {x, x}));
  const AlignedBytes file = builder.finish();
  TestSession session(file, {.rows = 64});
  const std::vector<int32_t> ids = some_ids(16, 50, 1);
  const Plain floats = random_plain(64, 128, 2);
  const Output embedding = session.run({ids_input("tokens", ids)}, 1, "main");
  for (int i = 0; i < 5; ++i) {
    const Output squares = session.run({floats_input("x", floats)}, 1, "square");
    for (size_t k = 0; k < squares.values.size(); ++k) REQUIRE(squares.values[k] == floats.values[k] * floats.values[k]);
    CHECK(session.run({ids_input("tokens", ids)}, 1, "main") == embedding);
  }
}

TEST_CASE("Limits outside their bounds are refused by name") {
  const AlignedBytes file = encoder().finish();
  const heed_model model = open(file);
  const auto refused = [&](uint32_t heed_limits::*limit, uint32_t value, const char* name) {
    heed_limits limits;
    heed_default_limits(&model, &limits);
    limits.*limit = value;
    heed_memory memory;
    heed_diagnostic diagnostic;
    INFO(name << " = " << value);
    CHECK(heed_required_bytes(&model, &limits, &memory, &diagnostic) == HEED_BAD_LIMITS);
    CHECK(std::string(diagnostic.what ? diagnostic.what : "") == name);
    CHECK(diagnostic.found == value);
  };
  refused(&heed_limits::size, 0, "size");
  refused(&heed_limits::max_rows, 0, "max_rows");
  refused(&heed_limits::max_rows, (1u << 24) + 1, "max_rows");
  refused(&heed_limits::max_sequences, 0, "max_sequences");
  refused(&heed_limits::max_sequences, 97, "max_sequences");
  refused(&heed_limits::max_sequence_rows, 0, "max_sequence_rows");
  refused(&heed_limits::max_sequence_rows, 97, "max_sequence_rows");
  refused(&heed_limits::max_context, 1, "max_context");
  refused(&heed_limits::beams, 0, "beams");
  refused(&heed_limits::workers, 0, "workers");
  refused(&heed_limits::workers, 257, "workers");
  refused(&heed_limits::tile_rows, 0, "tile_rows");
  refused(&heed_limits::tile_rows, 12, "tile_rows");
  refused(&heed_limits::precision, 3, "precision");
  refused(&heed_limits::cache_format, 1, "cache_format");
}

TEST_CASE("NUM-10: sizes beyond 32 bits are counted in 64, and beyond the format's bound refused") {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 4096, 1u << 24);
  builder.output("y", builder.node(schema::OpKind::Add, {x, x}));
  const AlignedBytes file = builder.finish();
  const heed_model model = open(file);
  heed_limits limits;
  heed_default_limits(&model, &limits);
  CHECK(limits.max_rows == 1u << 24);
  limits.max_rows = (1u << 20) + 1;
  const heed_memory memory = required(model, limits);
  CHECK(memory.transient_bytes == uint64_t{4096} * 4 * ((1u << 20) + 1) + 2 * kGuardUnits * kAlignment);
  heed_session session;
  AlignedBytes arena(64);
  heed_diagnostic diagnostic;
  // Where pointers have 32 bits, no arena could be large enough.
  const heed_status refused = sizeof(void*) < 8 ? HEED_TOO_LARGE : HEED_ARENA_TOO_SMALL;
  CHECK(heed_plan(&model, &limits, arena.data(), 64, nullptr, &session, &diagnostic) == refused);
  CHECK(diagnostic.bytes_needed == static_cast<int64_t>(memory.total_bytes));

  ModelBuilder huge;
  const uint16_t wide = huge.floats("x", 1u << 20, 1u << 24);
  huge.output("y", huge.node(schema::OpKind::Add, {wide, wide}));
  const AlignedBytes huge_file = huge.finish();
  const heed_model huge_model = open(huge_file);
  heed_default_limits(&huge_model, &limits);
  heed_memory none;
  CHECK(heed_required_bytes(&huge_model, &limits, &none, nullptr) == HEED_TOO_LARGE);
}

TEST_CASE("An instruction set that is not there is refused, one that is there is used") {
  const AlignedBytes file = encoder().finish();
  const heed_model model = open(file);
  heed_limits limits;
  heed_default_limits(&model, &limits);
  AlignedBytes arena(required(model, limits).total_bytes);
  heed_session session;
  heed_platform platform{};
  platform.isa = "pdp11";
  CHECK(heed_plan(&model, &limits, arena.data(), arena.size(), &platform, &session, nullptr) == HEED_ISA);
  for (const std::string& isa : runnable_isas()) {
    platform.isa = isa.c_str();
    REQUIRE(heed_plan(&model, &limits, arena.data(), arena.size(), &platform, &session, nullptr) == HEED_OK);
    CHECK(heed_session_isa(&session) == isa);
  }
}

TEST_CASE("API-04: null pointers give a status everywhere") {
  const AlignedBytes file = encoder().finish();
  const heed_model model = open(file);
  heed_limits limits;
  heed_default_limits(&model, &limits);
  heed_memory memory;
  heed_session session{};
  heed_model none{};
  CHECK(heed_required_bytes(nullptr, &limits, &memory, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_required_bytes(&none, &limits, &memory, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_required_bytes(&model, nullptr, &memory, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_required_bytes(&model, &limits, nullptr, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_plan(&model, &limits, nullptr, 0, nullptr, nullptr, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_run(nullptr, nullptr, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_run(&session, nullptr, nullptr) == HEED_INVALID_ARGUMENT);
  heed_output output;
  CHECK(heed_get_output(nullptr, 0, &output) == HEED_INVALID_ARGUMENT);
  CHECK(heed_get_output(&session, 0, &output) == HEED_INVALID_ARGUMENT);
  CHECK(heed_get_output(&session, 0, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_session_isa(nullptr) == nullptr);
  heed_default_limits(nullptr, &limits);
  heed_default_limits(&model, nullptr);
}

}  // namespace heed::testing
