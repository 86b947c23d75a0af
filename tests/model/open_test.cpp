// heed_open on files that are whole, cut, flipped, misaligned, of another version, or that lie about themselves.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "support/encoder.h"
#include "support/test_session.h"

namespace heed::testing {
namespace {

heed_status open(const AlignedBytes& file, uint32_t flags = 0, heed_diagnostic* diagnostic = nullptr) {
  heed_model model;
  return heed_open(file.data(), file.size(), flags, &model, diagnostic);
}

EncoderSize tiny() { return {.vocabulary = 5, .features = 4, .heads = 2, .hidden = 4, .layers = 1, .max_rows = 3}; }

// Opens a damaged file from memory of exactly its size, and runs it if it opens and is small.
void open_and_run(const AlignedBytes& file) {
  heed_model model;
  heed_diagnostic diagnostic;
  if (heed_open(file.data(), file.size(), 0, &model, &diagnostic) != HEED_OK) return;
  heed_limits limits;
  heed_default_limits(&model, &limits);
  limits.max_rows = limits.max_sequence_rows = std::min(limits.max_sequence_rows, 3u);
  heed_memory memory;
  if (heed_required_bytes(&model, &limits, &memory, &diagnostic) != HEED_OK || memory.total_bytes > 1u << 24) return;
  AlignedBytes arena(memory.total_bytes);
  heed_session session;
  if (heed_plan(&model, &limits, arena.data(), arena.size(), nullptr, &session, &diagnostic) != HEED_OK) return;
  const std::vector<int32_t> ids(limits.max_rows, 1);
  const heed_input inputs[] = {ids_input("tokens", ids), ids_input("segments", ids)};
  heed_pass pass{};
  pass.size = sizeof pass;
  pass.inputs_count = 2;
  pass.inputs = inputs;
  heed_run(&session, &pass, &diagnostic);
}

}  // namespace

TEST_CASE("A whole file opens, also with its weights checked") {
  const AlignedBytes file = encoder().finish();
  heed_diagnostic diagnostic;
  REQUIRE(open(file, 0, &diagnostic) == HEED_OK);
  REQUIRE(open(file, HEED_OPEN_CHECK_WEIGHTS, &diagnostic) == HEED_OK);
  CHECK(diagnostic.what == nullptr);
  CHECK(diagnostic.node == -1);
}

TEST_CASE("A file cut at any byte is refused") {
  const AlignedBytes whole = encoder(tiny()).finish();
  for (size_t size = 0; size < whole.size(); ++size) {
    const AlignedBytes cut(whole.begin(), whole.begin() + static_cast<long>(size));
    heed_model model{};
    const heed_status status = heed_open(cut.data(), cut.size(), 0, &model, nullptr);
    INFO("size " << size);
    REQUIRE(status == HEED_TRUNCATED);
    REQUIRE(model.root == nullptr);
  }
}

TEST_CASE("A file with bytes behind its end is refused") {
  AlignedBytes file = encoder(tiny()).finish();
  file.push_back(0);
  CHECK(open(file) == HEED_CORRUPT);
}

TEST_CASE("A flipped bit in the tables is found at open, in the weights when they are checked") {
  ModelBuilder builder = encoder(tiny());
  AlignedBytes file = builder.finish();
  const size_t tables = table_bytes(file);
  size_t missed = 0;
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    file[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    const heed_status status = open(file, HEED_OPEN_CHECK_WEIGHTS);
    if (bit / 8 < tables + 8) {
      INFO("byte " << bit / 8);
      REQUIRE(status != HEED_OK);
    } else if (status == HEED_OK) {
      ++missed;  // gaps between weights
    } else {
      CHECK((status == HEED_CORRUPT || status == HEED_BAD_WEIGHT));
    }
    file[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
  CHECK(missed == 8 * (builder.region.size() - builder.part_bytes));
}

TEST_CASE("A flipped bit with a right checksum gives a status, or a model that runs without harm") {
  const AlignedBytes whole = encoder(tiny()).finish();
  const size_t tables = table_bytes(whole);
  for (size_t bit = 32; bit < 8 * tables; ++bit) {
    AlignedBytes file = whole;
    file[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    reseal(file);
    open_and_run(file);
  }
}

TEST_CASE("A flipped bit in a weight that nobody checks does no harm") {
  const AlignedBytes whole = encoder(tiny()).finish();
  for (size_t bit = 8 * (table_bytes(whole) + 8); bit < 8 * whole.size(); bit += 3) {
    AlignedBytes file = whole;
    file[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    open_and_run(file);
  }
}

TEST_CASE("Bytes set to the largest and smallest numbers with a right checksum do no harm") {
  const AlignedBytes whole = encoder(tiny()).finish();
  const size_t tables = table_bytes(whole);
  for (uint32_t value : {0u, 0xffffffffu, 0x7fffffffu, 0x80000000u, 9999u}) {
    for (size_t at = 4; at + 4 <= tables; at += 4) {
      AlignedBytes file = whole;
      std::memcpy(file.data() + at, &value, 4);
      reseal(file);
      open_and_run(file);
    }
  }
}

TEST_CASE("FB-05: bytes that are not 64-byte aligned are refused before they are read") {
  const AlignedBytes file = encoder(tiny()).finish();
  AlignedBytes room(file.size() + 64);
  for (size_t shift : {1u, 2u, 4u, 8u, 16u, 32u}) {
    std::memcpy(room.data() + shift, file.data(), file.size());
    heed_model model;
    CHECK(heed_open(room.data() + shift, file.size(), 0, &model, nullptr) == HEED_MISALIGNED);
  }
}

TEST_CASE("FB-06: the length prefix has to be the tables' length") {
  AlignedBytes file = encoder(tiny()).finish();
  uint32_t length;
  std::memcpy(&length, file.data(), 4);
  for (uint32_t wrong : {0u, 4u, length - 8, length + 8, 0x04000000u, 0x7fffffffu, 0xffffffffu}) {
    AlignedBytes changed = file;
    std::memcpy(changed.data(), &wrong, 4);
    CHECK(open(changed) != HEED_OK);
    if (wrong < file.size() - 16) reseal(changed);
    open_and_run(changed);
  }
}

TEST_CASE("Other files and newer formats are told apart from damage") {
  CHECK(open(AlignedBytes(256, 'x')) == HEED_BAD_MAGIC);
  CHECK(open({}) == HEED_TRUNCATED);
  ModelBuilder builder = encoder(tiny());
  builder.model.version = 2;
  heed_diagnostic diagnostic;
  CHECK(open(builder.finish(), 0, &diagnostic) == HEED_VERSION);
  CHECK(diagnostic.found == 2);
  CHECK(diagnostic.expected == 1);
  builder.model.version = 0;
  CHECK(open(builder.finish()) == HEED_CORRUPT);
}

TEST_CASE("API-04, API-08: null pointers and unknown flags are refused") {
  const AlignedBytes file = encoder(tiny()).finish();
  heed_model model;
  CHECK(heed_open(file.data(), file.size(), 0, nullptr, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_open(nullptr, 100, 0, &model, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_open(nullptr, 0, 0, &model, nullptr) == HEED_TRUNCATED);
  CHECK(heed_open(file.data(), file.size(), 2, &model, nullptr) == HEED_INVALID_ARGUMENT);
  CHECK(heed_open(file.data(), UINT64_MAX, 0, &model, nullptr) == HEED_TOO_LARGE);
}

TEST_CASE("FB-12: tables without end are refused in bounded time") {
  ModelBuilder builder = encoder(tiny());
  builder.model.metadata = std::make_unique<schema::MetadataT>();
  for (int i = 0; i < 250000; ++i) builder.model.metadata->report.push_back(std::make_unique<schema::LayerT>());
  CHECK(open(builder.finish()) == HEED_CORRUPT);
}

TEST_CASE("Every status has a text") {
  for (int status = 0; status < 60; ++status) {
    REQUIRE(heed_status_text(static_cast<heed_status>(status)) != nullptr);
  }
  CHECK(std::string(heed_status_text(HEED_TRUNCATED)) != heed_status_text(HEED_CORRUPT));
  CHECK(std::string(heed_status_text(static_cast<heed_status>(59))) == "unknown status");
}

}  // namespace heed::testing
