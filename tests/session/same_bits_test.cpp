// One model and one input give the same bits on every instruction set, thread count, tile height and batch.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "support/encoder.h"
#include "support/test_session.h"

namespace heed::testing {
namespace {

struct Batch {
  std::vector<int32_t> ids;
  std::vector<uint32_t> lengths;
};

Batch ragged_batch() {
  Batch batch;
  batch.lengths = {1, 65, 3, 17, 64, 2, 40, 96, 16, 5};
  uint32_t rows = 0;
  for (uint32_t length : batch.lengths) rows += length;
  batch.ids = some_ids(rows, 50, 11);
  return batch;
}

}  // namespace

TEST_CASE("Same bits: instruction sets, tiles of 8 and 32, 1, 2 and 4 workers, ragged or one by one") {
  const Batch batch = ragged_batch();
  const uint32_t rows = static_cast<uint32_t>(batch.ids.size());
  const uint32_t sequences = static_cast<uint32_t>(batch.lengths.size());
  for (schema::Format format : {schema::Format::q8c, schema::Format::f32, schema::Format::f16}) {
    const AlignedBytes file = encoder({.features = 48, .heads = 3, .hidden = 80, .format = format}).finish();
    for (uint32_t precision : {HEED_PRECISION_INT8, HEED_PRECISION_F32}) {
      Output one_by_one{0, 48, {}};
      {
        TestSession session(file, {.precision = precision, .isa = "ref"});
        for (size_t i = 0, at = 0; i < sequences; at += batch.lengths[i++]) {
          const std::vector<int32_t> ids(batch.ids.begin() + static_cast<long>(at),
                                         batch.ids.begin() + static_cast<long>(at + batch.lengths[i]));
          const Output one = session.run({ids_input("tokens", ids)});
          one_by_one.values.insert(one_by_one.values.end(), one.values.begin(), one.values.end());
          ++one_by_one.rows;
        }
      }
      for (const std::string& isa : runnable_isas()) {
        for (uint32_t tile_rows : {8u, 32u}) {
          for (uint32_t workers : {1u, 2u, 4u}) {
            TestSession session(file, {.rows = rows, .sequences = sequences, .workers = workers,
                                       .tile_rows = tile_rows, .precision = precision, .isa = isa.c_str()});
            REQUIRE(heed_session_isa(&session.session) == isa);
            const Output together =
                session.run({ids_input("tokens", batch.ids, batch.lengths.data())}, sequences);
            INFO(isa << ", tiles of " << tile_rows << ", " << workers << " workers, precision " << precision);
            REQUIRE(together == one_by_one);
          }
        }
      }
    }
  }
}

TEST_CASE("NUM-05: a short sentence has the same embedding alone and beside a long one") {
  const AlignedBytes file = encoder().finish();
  TestSession session(file, {.rows = 99, .sequences = 2});
  std::vector<int32_t> ids = {7, 8, 9};
  const Output alone = session.run({ids_input("tokens", ids)});
  const std::vector<int32_t> more = some_ids(96, 50, 3);
  ids.insert(ids.end(), more.begin(), more.end());
  const uint32_t lengths[] = {3, 96};
  const Output both = session.run({ids_input("tokens", ids, lengths)}, 2);
  for (uint32_t c = 0; c < alone.features; ++c) CHECK(both.at(0, c) == alone.at(0, c));
}

TEST_CASE("Any order of tiles gives the same bits") {
  const AlignedBytes file = encoder().finish();
  const std::vector<int32_t> ids = some_ids(96, 50, 4);
  TestSession session(file, {.workers = 3, .tile_rows = 8});
  const Output expected = session.run({ids_input("tokens", ids)});
  session.platform.run = [](void*, uint32_t n, heed_task task, void* job) {
    for (uint32_t i = n; i-- > 0;) task(job, i, i % 3);
  };
  CHECK(session.run({ids_input("tokens", ids)}) == expected);
}

}  // namespace heed::testing
