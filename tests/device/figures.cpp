// Prints what some models need under many limits, and a digest of what they compute with `ref`: one line each, the same with
// 32-bit and with 64-bit pointers and on every processor (ARENA-10; tools/emulate compares them).
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "support/encoder.h"
#include "support/stateful.h"

namespace {

using namespace heed::testing;

uint64_t digest(const heed_model& model, const heed_limits& limits, const heed_memory& memory) {
  AlignedBytes arena(memory.total_bytes, 0xff);
  heed_platform platform{};
  platform.isa = "ref";
  heed_session session;
  if (heed_plan(&model, &limits, arena.data(), arena.size(), &platform, &session, nullptr) != HEED_OK) return 0;
  const std::vector<int32_t> ids = some_ids(limits.max_rows, 50, 9);
  const heed_input input{"tokens", ids.data(), limits.max_rows, nullptr};
  heed_pass pass{};
  pass.size = sizeof pass;
  pass.inputs_count = 1;
  pass.inputs = &input;
  if (heed_run(&session, &pass, nullptr) != HEED_OK) return 0;
  heed_output output;
  heed_get_output(&session, 0, &output);
  return XXH64(output.data, output.features * sizeof(float), 0);
}

bool print(const heed_model& model, const heed_limits& limits) {
  heed_memory m;
  if (heed_required_bytes(&model, &limits, &m, nullptr) != HEED_OK) return false;
  std::printf("rows %u sequences %u workers %u tiles %u precision %u: %llu %llu %llu %llu", limits.max_rows,
              limits.max_sequences, limits.workers, limits.tile_rows, limits.precision,
              static_cast<unsigned long long>(m.total_bytes), static_cast<unsigned long long>(m.persistent_bytes),
              static_cast<unsigned long long>(m.scratch_bytes), static_cast<unsigned long long>(m.live_peak_bytes));
  if (limits.max_rows <= 64) {
    const uint64_t bits = digest(model, limits, m);
    if (bits == 0) return false;
    std::printf(" digest %016llx", static_cast<unsigned long long>(bits));
  }
  std::printf("\n");
  return true;
}

bool print_all(const heed_model& model) {
  for (uint32_t rows : {1u, 8u, 63u, 512u, 100000u}) {
    for (uint32_t sequences : {1u, 7u, 512u}) {
      for (uint32_t workers : {1u, 3u}) {
        for (uint32_t precision : {HEED_PRECISION_INT8, HEED_PRECISION_F32}) {
          heed_limits limits;
          heed_default_limits(&model, &limits);
          limits.max_rows = rows;
          limits.max_sequences = sequences < rows ? sequences : rows;
          limits.workers = workers;
          limits.tile_rows = workers == 1 ? 8 : 32;
          limits.precision = precision;
          if (limits.max_context > 0) limits.max_context = rows < 1000 ? rows + 3 : 1000;
          if (!print(model, limits)) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

int main() {
  for (heed::schema::Format format : {heed::schema::Format::q8c, heed::schema::Format::f32}) {
    const AlignedBytes plain =
        encoder({.features = 40, .heads = 5, .hidden = 72, .max_rows = 512, .format = format}).finish();
    for (const AlignedBytes& file : {plain, stateful({.format = format}).finish()}) {
      heed_model model;
      if (heed_open(file.data(), file.size(), HEED_OPEN_CHECK_WEIGHTS, &model, nullptr) != HEED_OK) return 1;
      if (!print_all(model)) return 1;
    }
  }
  return 0;
}
