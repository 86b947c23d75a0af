// heed.hpp, as its own example says, and in a second file of this program: everything in it is inline (BUILD-12).
// SPDX-License-Identifier: Apache-2.0
#include "heed/heed.hpp"

#include <catch2/catch.hpp>

#include "support/encoder.h"
#include "support/test_session.h"

namespace heed::testing {

TEST_CASE("The C++ layer gives what the C functions give") {
  const AlignedBytes file = encoder().finish();
  const std::vector<int32_t> tokens = some_ids(12, 50, 1);
  const testing::Output expected = TestSession(file).run({ids_input("tokens", tokens)});
  Model model;
  CHECK_FALSE(model.is_open());
  REQUIRE(model.open(file.data(), file.size()).ok());
  CHECK(model.is_open());
  Limits limits(model);
  limits.max_rows = 12;
  heed_memory memory;
  REQUIRE(model.required_bytes(limits, &memory).ok());
  AlignedBytes arena(memory.total_bytes);
  Session session;
  CHECK(session.isa() == nullptr);
  CHECK(session.output(0).data == nullptr);
  CHECK(session.plan(model, limits, arena.data(), arena.size() - 1) == HEED_ARENA_TOO_SMALL);
  REQUIRE(session.plan(model, limits, arena.data(), arena.size()).ok());
  CHECK(session.isa() != nullptr);
  const heed_input input = heed::ids("tokens", tokens.data(), 12);
  REQUIRE(session.run(&input, 1).ok());
  const heed::Output embedding = session.output(0);
  REQUIRE(embedding.rows == 1);
  REQUIRE(embedding.features == expected.features);
  CHECK(std::memcmp(embedding.row(0), expected.values.data(), expected.features * sizeof(float)) == 0);
  const Status failed = session.run(&input, 0);
  CHECK(failed != HEED_OK);
  CHECK(std::string(failed.text()) == heed_status_text(HEED_INVALID_ARGUMENT));
  CHECK(session.output(0).data == nullptr);
  CHECK(session.output(7).data == nullptr);
}

}  // namespace heed::testing
