// A small sentence encoder of two layers, in the shape of the real ones, for tests of the whole path.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/model_builder.h"

namespace heed::testing {

struct EncoderSize {
  uint32_t vocabulary = 50;
  uint32_t features = 32;
  uint32_t heads = 4;
  uint32_t hidden = 64;
  uint32_t layers = 2;
  uint32_t max_rows = 96;
  schema::Format format = schema::Format::q8c;
};

inline std::vector<float> around(uint32_t count, float middle, uint32_t seed) {
  std::vector<float> values = random_plain(1, count, seed, 0.1f).values;
  for (float& x : values) x += middle;
  return values;
}

inline uint16_t encoder_layer(ModelBuilder& builder, const EncoderSize& size, uint16_t x, uint32_t seed) {
  const float spread = 1.0f / std::sqrt(static_cast<float>(size.features));
  const auto square = [&](uint32_t i) {
    return builder.matrix(random_plain(size.features, size.features, seed + i, spread), size.format,
                          around(size.features, 0, seed + i + 10));
  };
  schema::NodeT attention;
  attention.query = square(1);
  attention.key = square(2);
  attention.value = square(3);
  attention.output = square(4);
  attention.heads = attention.kv_heads = size.heads;
  attention.head_dim = attention.value_dim = size.features / size.heads;
  attention.scale = 1.0f / std::sqrt(static_cast<float>(attention.head_dim));
  attention.residual = true;
  attention.norm_out = builder.norm(around(size.features, 1, seed + 20), around(size.features, 0, seed + 21));
  x = builder.node(schema::OpKind::Attention, {x}, attention);
  schema::NodeT feed_forward;
  feed_forward.up = builder.matrix(random_plain(size.hidden, size.features, seed + 5, spread), size.format,
                                   around(size.hidden, 0, seed + 22));
  feed_forward.down = builder.matrix(random_plain(size.features, size.hidden, seed + 6, spread), size.format,
                                     around(size.features, 0, seed + 23));
  feed_forward.activation = schema::ActivationKind::gelu;
  feed_forward.residual = true;
  feed_forward.norm_out = builder.norm(around(size.features, 1, seed + 24), around(size.features, 0, seed + 25));
  return builder.node(schema::OpKind::FeedForward, {x}, feed_forward);
}

inline ModelBuilder encoder(const EncoderSize& size = {}) {
  ModelBuilder builder;
  const uint16_t tokens = builder.ids("tokens", size.max_rows);
  const uint16_t segments = builder.ids("segments", size.max_rows, 0, true);
  const schema::Format tables = size.format;
  schema::NodeT embed;
  embed.token = builder.table(random_plain(size.vocabulary, size.features, 1), tables);
  embed.position = builder.table(random_plain(size.max_rows, size.features, 2, 0.3f), tables);
  embed.segment = builder.table(random_plain(2, size.features, 3, 0.3f), tables);
  embed.norm_out = builder.norm(around(size.features, 1, 4), around(size.features, 0, 5));
  uint16_t x = builder.node(schema::OpKind::Embed, {tokens, segments}, embed);
  for (uint32_t layer = 0; layer < size.layers; ++layer) x = encoder_layer(builder, size, x, 100 * (layer + 1));
  schema::NodeT pool;
  pool.pool = schema::PoolKind::mean;
  const uint16_t pooled = builder.node(schema::OpKind::Pool, {x}, pool);
  builder.output("embedding", builder.node(schema::OpKind::L2Normalize, {pooled}));
  builder.output("rows", x);
  return builder;
}

inline std::vector<int32_t> some_ids(uint32_t count, uint32_t vocabulary, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(generator() % vocabulary);
  return ids;
}

}  // namespace heed::testing
