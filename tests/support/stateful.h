// A small model with every kind of state: `main` reads tokens behind kept keys, with relative positions, sources and a cell
// with a row of its own; `encode` writes what it attends to.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/model_builder.h"

namespace heed::testing {

struct StatefulSize {
  uint32_t heads = 5;
  uint32_t head_dim = 8;
  uint32_t hidden = 24;
  uint32_t max_rows = 512;
  schema::Format format = schema::Format::q8c;
  bool sources = false;  // whether `main` attends to what `encode` has written
};

inline schema::StateT key_state(const StatefulSize& size, schema::StateKind kind, const char* name) {
  schema::StateT keys;
  keys.name = name;
  keys.kind = kind;
  keys.format = size.format;
  keys.heads = size.heads;
  keys.features = keys.value_features = size.head_dim;
  return keys;
}

inline ModelBuilder stateful(const StatefulSize& size = {}) {
  using schema::OpKind;
  const uint32_t features = size.heads * size.head_dim;
  ModelBuilder builder;
  const auto matrix = [&](uint32_t rows, uint32_t cols, uint32_t seed) {
    return builder.matrix(random_plain(rows, cols, seed, 0.2f), size.format);
  };
  schema::NodeT embed, attention, source, kept, cell;
  embed.token = builder.table(random_plain(50, features, 1), size.format);
  attention.heads = attention.kv_heads = size.heads;
  attention.head_dim = attention.value_dim = size.head_dim;
  source = attention;
  attention.key = matrix(features, features, 2);
  attention.value = matrix(features, features, 3);
  attention.causal = true;
  attention.position_kind = schema::PositionKind::t5;
  attention.position_weight = builder.table(random_plain(32, size.heads, 4), schema::Format::f32);
  attention.state = embed.state = builder.state(key_state(size, schema::StateKind::kv_append, "keys"));
  schema::StateT row;
  row.name = "row";
  row.kind = schema::StateKind::recurrent;
  row.features = size.hidden;
  kept.state = builder.state(row);
  cell.weight = matrix(3 * size.hidden, features, 5);
  cell.recurrent = matrix(3 * size.hidden, size.hidden, 6);
  uint16_t x = builder.node(OpKind::Embed, {builder.ids("tokens", size.max_rows)}, embed);
  x = builder.node(OpKind::Attention, {x}, attention);
  if (size.sources) {
    source.state = builder.state(key_state(size, schema::StateKind::kv_fixed, "source"));
    x = builder.node(OpKind::Attention, {x}, source);
  }
  const auto out = builder.nodes(OpKind::Recurrent, {x, builder.node(OpKind::LoadState, {}, kept)}, 2, cell);
  builder.nodes(OpKind::StoreState, {out[1]}, 0, kept);
  builder.output("y", out[0]);
  if (!size.sources) return builder;
  builder.add_graph("encode");
  schema::NodeT write;
  write.key = matrix(features, features, 7);
  write.value = matrix(features, features, 8);
  write.state = source.state;
  const uint16_t rows = builder.floats("rows", features, size.max_rows);
  builder.nodes(OpKind::KeyValue, {rows}, 0, write);
  builder.output("same", rows);
  return builder;
}

}  // namespace heed::testing
