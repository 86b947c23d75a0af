// Prints what some models need under many limits, and a digest of what they compute with `ref`: one line each. The test
// builds it for 32-bit and 64-bit pointers and compares (pointer_size_test.py).
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "support/encoder.h"

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

// Tokens behind a state of keys, with relative positions, and a cell with a row of its own.
AlignedBytes stateful(heed::schema::Format format) {
  using heed::schema::OpKind;
  using heed::schema::StateKind;
  ModelBuilder builder;
  heed::schema::NodeT embed, attention, cell, kept;
  embed.token = builder.table(random_plain(50, 40, 1), format);
  heed::schema::StateT keys, row;
  keys.kind = StateKind::kv_append;
  keys.format = format;
  keys.heads = attention.heads = attention.kv_heads = 5;
  keys.features = keys.value_features = attention.head_dim = attention.value_dim = 8;
  attention.key = builder.matrix(random_plain(40, 40, 2, 0.2f), format);
  attention.value = builder.matrix(random_plain(40, 40, 3, 0.2f), format);
  attention.causal = true;
  attention.position_kind = heed::schema::PositionKind::t5;
  attention.position_weight = builder.table(random_plain(32, 5, 4), heed::schema::Format::f32);
  attention.state = embed.state = builder.state(keys);
  row.kind = StateKind::recurrent;
  row.features = 24;
  kept.state = builder.state(row);
  cell.weight = builder.matrix(random_plain(72, 40, 5, 0.2f), format);
  cell.recurrent = builder.matrix(random_plain(72, 24, 6, 0.2f), format);
  const uint16_t x = builder.node(OpKind::Embed, {builder.ids("tokens", 512)}, embed);
  const uint16_t h = builder.node(OpKind::LoadState, {}, kept);
  const auto out = builder.nodes(OpKind::Recurrent, {builder.node(OpKind::Attention, {x}, attention), h}, 2, cell);
  builder.nodes(OpKind::StoreState, {out[1]}, 0, kept);
  builder.output("y", out[0]);
  return builder.finish();
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
    for (const AlignedBytes& file : {plain, stateful(format)}) {
      heed_model model;
      if (heed_open(file.data(), file.size(), HEED_OPEN_CHECK_WEIGHTS, &model, nullptr) != HEED_OK) return 1;
      if (!print_all(model)) return 1;
    }
  }
  return 0;
}
