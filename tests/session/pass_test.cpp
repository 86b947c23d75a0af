// heed_run: what a pass may hold, and what it gets when it does not.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "support/encoder.h"
#include "support/test_session.h"

namespace heed::testing {
namespace {

AlignedBytes one_input_file() {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 16, 8);
  builder.output("y", builder.node(schema::OpKind::Add, {x, x}));
  return builder.finish();
}

}  // namespace

TEST_CASE("KV-05: more rows than the limits allow are refused with the limit, and the session stays usable") {
  const AlignedBytes file = encoder({.max_rows = 32}).finish();
  TestSession session(file, {.rows = 32, .sequences = 2});
  const std::vector<int32_t> fits = some_ids(32, 50, 1);
  const Output before = session.run({ids_input("tokens", fits)});
  for (uint32_t rows : {33u, 64u, 100000u}) {
    const std::vector<int32_t> ids(rows, 1);
    heed_diagnostic diagnostic;
    CHECK(session.run_status({ids_input("tokens", ids)}, 1, &diagnostic) == HEED_TOO_LONG);
    CHECK(diagnostic.found == rows);
    CHECK(diagnostic.expected == 32);
    CHECK(diagnostic.input == 0);
  }
  const std::vector<uint32_t> lengths = {10, 10, 12};
  CHECK(session.run_status({ids_input("tokens", fits, lengths.data())}, 3) == HEED_TOO_LONG);
  heed_output output;
  CHECK(heed_get_output(&session.session, 0, &output) == HEED_INVALID_ARGUMENT);
  CHECK(session.run({ids_input("tokens", fits)}) == before);
}

TEST_CASE("A sequence longer than one may be is refused though all rows fit") {
  const AlignedBytes file = encoder({.max_rows = 16}).finish();
  TestSession session(file, {.rows = 64, .sequences = 8});
  const std::vector<int32_t> ids = some_ids(40, 50, 1);
  const std::vector<uint32_t> lengths = {10, 17, 13};
  heed_diagnostic diagnostic;
  CHECK(session.run_status({ids_input("tokens", ids, lengths.data())}, 3, &diagnostic) == HEED_TOO_LONG);
  CHECK(diagnostic.found == 17);
  CHECK(diagnostic.expected == 16);
}

TEST_CASE("Ids outside their table are refused with input, number and bound") {
  const AlignedBytes file = encoder().finish();
  TestSession session(file);
  const std::vector<int32_t> good = some_ids(5, 50, 1);
  for (int32_t id : {-1, 50, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    std::vector<int32_t> ids = good;
    ids[3] = id;
    heed_diagnostic diagnostic;
    CHECK(session.run_status({ids_input("tokens", ids)}, 1, &diagnostic) == HEED_BAD_INPUT);
    CHECK(diagnostic.input == 0);
    CHECK(diagnostic.found == id);
    CHECK(diagnostic.expected == 49);
    CHECK(diagnostic.byte_offset == 12);
    const std::vector<int32_t> segments = {0, 1, 2, 0, 0};
    CHECK(session.run_status({ids_input("tokens", good), ids_input("segments", segments)}, 1, &diagnostic) ==
          HEED_BAD_INPUT);
    CHECK(diagnostic.input == 1);
  }
}

TEST_CASE("An optional input that is absent reads as zeros") {
  const AlignedBytes file = encoder().finish();
  TestSession session(file);
  const std::vector<int32_t> ids = some_ids(9, 50, 1);
  const std::vector<int32_t> zeros(9, 0);
  const std::vector<int32_t> ones(9, 1);
  const Output absent = session.run({ids_input("tokens", ids)});
  CHECK(session.run({ids_input("tokens", ids), ids_input("segments", zeros)}) == absent);
  CHECK(session.run({ids_input("tokens", ids), {"segments", nullptr, 9, nullptr}}) == absent);
  CHECK_FALSE(session.run({ids_input("tokens", ids), ids_input("segments", ones)}) == absent);
}

TEST_CASE("A pass that does not make sense is refused") {
  const AlignedBytes file = encoder().finish();
  TestSession session(file, {.rows = 96, .sequences = 4});
  const std::vector<int32_t> ids = some_ids(9, 50, 1);
  const std::vector<int32_t> eight(8, 0);
  const auto refused = [&](const std::vector<heed_input>& inputs, uint32_t sequences = 1) {
    CHECK(session.run_status(inputs, sequences) == HEED_INVALID_ARGUMENT);
  };
  refused({});
  refused({ids_input("segments", ids)});
  refused({ids_input("nothing", ids)});
  refused({{nullptr, ids.data(), 9, nullptr}});
  refused({ids_input("tokens", ids), ids_input("tokens", ids)});
  refused({{"tokens", nullptr, 9, nullptr}});
  refused({{"tokens", ids.data(), 0, nullptr}});
  refused({ids_input("tokens", ids), ids_input("segments", eight)});
  refused({ids_input("tokens", ids)}, 2);  // lengths missing
  const uint32_t lengths[][3] = {{3, 3, 2}, {3, 3, 4}, {9, 0, 0}, {0, 0, 9}, {3, 0xffffffffu, 7}, {5, 0xfffffffeu, 6}};
  for (const auto& length : lengths) refused({ids_input("tokens", ids, length)}, 3);
  const uint32_t first[] = {4, 5};
  const uint32_t second[] = {5, 4};
  refused({ids_input("tokens", ids, first), ids_input("segments", ids, second)}, 2);
  heed_pass pass{};
  CHECK(heed_run(&session.session, &pass, nullptr) == HEED_INVALID_ARGUMENT);
  pass.size = sizeof pass;
  pass.graph = "decode";
  CHECK(heed_run(&session.session, &pass, nullptr) == HEED_INVALID_ARGUMENT);
  pass.graph = nullptr;
  pass.inputs_count = 1;
  CHECK(heed_run(&session.session, &pass, nullptr) == HEED_INVALID_ARGUMENT);
}

TEST_CASE("NaN in a float input stays in the rows it touches, tiny numbers become zero") {
  const AlignedBytes file = one_input_file();
  TestSession session(file);
  Plain x = random_plain(4, 16, 1);
  uint32_t odd_nan = 0xffc12345u;
  std::memcpy(&x.at(1, 3), &odd_nan, 4);
  x.at(2, 0) = std::numeric_limits<float>::infinity();
  x.at(2, 1) = 0x1p-52f;
  x.at(2, 2) = -0x1p-149f;
  x.at(2, 3) = -0x1p-51f;
  const Output y = session.run({floats_input("x", x)});
  uint32_t bits;
  std::memcpy(&bits, &y.values[16 + 3], 4);
  CHECK(bits == 0x7fc00000u);
  CHECK(std::isfinite(y.at(1, 2)));
  CHECK(std::isinf(y.at(2, 0)));
  CHECK(y.at(2, 1) == 0);
  CHECK(y.at(2, 2) == 0);
  CHECK_FALSE(std::signbit(y.at(2, 2)));
  CHECK(y.at(2, 3) == -0x1p-50f);
  for (uint32_t c = 0; c < 16; ++c) CHECK(y.at(0, c) == 2 * x.at(0, c));
}

TEST_CASE("MASK-07: NaN in one sequence of a pass is NaN there, and does not touch its neighbours") {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 32, 80);
  builder.output("y", encoder_layer(builder, {.max_rows = 80}, x, 5));
  const AlignedBytes file = builder.finish();
  for (uint32_t precision : {HEED_PRECISION_INT8, HEED_PRECISION_F32}) {
    TestSession session(file, {.rows = 80, .sequences = 3, .precision = precision});
    Plain input = random_plain(80, 32, 2);
    const uint32_t lengths[] = {30, 20, 30};
    const Output clean = session.run({floats_input("x", input, lengths)}, 3);
    for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      input.at(40, 7) = bad;
      const Output y = session.run({floats_input("x", input, lengths)}, 3);
      for (uint32_t r = 0; r < 80; ++r) {
        for (uint32_t c = 0; c < 32; ++c) {
          if (r < 30 || r >= 50) REQUIRE(y.at(r, c) == clean.at(r, c));
          if (r >= 30 && r < 50) REQUIRE(std::isnan(y.at(r, c)));
        }
      }
    }
  }
}

#if defined(__SSE__)
TEST_CASE("A run computes with IEEE defaults and leaves the caller's control register alone") {
  const AlignedBytes file = encoder().finish();
  const std::vector<int32_t> ids = some_ids(30, 50, 1);
  TestSession plain(file);
  const Output expected = plain.run({ids_input("tokens", ids)});
  const uint32_t before = _mm_getcsr();
  for (uint32_t mode : {0x8040u, 0x2000u, 0x6000u}) {  // flush to zero with denormals as zero; round down; truncate
    _mm_setcsr(before | mode);
    const heed_status status = plain.run_status({ids_input("tokens", ids)});
    const uint32_t after = _mm_getcsr();
    _mm_setcsr(before);
    CHECK(status == HEED_OK);
    CHECK((after & ~0x3fu) == ((before | mode) & ~0x3fu));
    CHECK(plain.output(0) == expected);
  }
}
#endif

TEST_CASE("A platform with more workers than the limits is caught") {
  const AlignedBytes file = encoder().finish();
  TestSession session(file, {.workers = 2, .tile_rows = 8});
  session.platform.run = [](void*, uint32_t n, heed_task task, void* job) {
    for (uint32_t i = 0; i < n; ++i) task(job, i, i % 3);
  };
  const std::vector<int32_t> ids = some_ids(96, 50, 1);
  CHECK(session.run_status({ids_input("tokens", ids)}) == HEED_INVALID_ARGUMENT);
}

}  // namespace heed::testing
