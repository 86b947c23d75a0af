// Blocks around attention and feed-forward: residual and each norm, gates, activations, formats, input scales.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "ops/oracle.h"

namespace heed::testing {
namespace {

using schema::Format;

struct Norms {
  bool in = false;
  bool branch = false;
  bool out = false;
  bool rms = false;
  bool residual = true;
};

constexpr uint32_t kFeatures = 20;
constexpr uint32_t kHidden = 37;

std::vector<float> gain(uint32_t seed) {
  std::vector<float> values = random_plain(1, kFeatures, seed, 0.2f).values;
  for (float& x : values) x += 1;
  return values;
}
std::vector<float> shift(uint32_t seed) { return random_plain(1, kFeatures, seed, 0.2f).values; }

void set_norms(ModelBuilder& builder, const Norms& norms, schema::NodeT* node) {
  if (norms.in) node->norm_in = builder.norm(gain(21), shift(31));
  if (norms.branch) node->norm_branch = builder.norm(gain(22), shift(32));
  if (norms.out) node->norm_out = builder.norm(gain(23), norms.rms ? std::vector<float>{} : shift(33));
  if (norms.rms) node->norm_kind = schema::NormKind::rms;
  node->epsilon = 1e-5f;
  node->residual = norms.residual;
}

// What the block makes of x when `inside` is what it computes between its norms.
template <class Inside>
Matrix around(const Matrix& x, const Norms& norms, const Inside& inside) {
  const auto normed = [&](Matrix rows, uint32_t seed, bool with_shift) {
    for (Vector& row : rows) {
      row = norm(row, gain(20 + seed), with_shift ? shift(30 + seed) : std::vector<float>{}, 1e-5f, norms.rms);
    }
    return rows;
  };
  Matrix y = inside(norms.in ? normed(x, 1, true) : x);
  if (norms.branch) y = normed(y, 2, true);
  if (norms.residual) y = add(y, x);
  return norms.out ? normed(y, 3, !norms.rms) : y;
}

const Norms kNorms[] = {{}, {.in = true}, {.branch = true}, {.out = true}, {.in = true, .branch = true, .out = true},
                        {.in = true, .out = true, .rms = true}, {.branch = true, .residual = false},
                        {.residual = false}};

}  // namespace

TEST_CASE("FeedForward: gated or not, every activation, every norm, every format") {
  const Plain x = random_plain(21, kFeatures, 1);
  for (Format format : {Format::f32, Format::f16, Format::q8c}) {
    for (bool gated : {false, true}) {
      for (int kind = 0; kind <= static_cast<int>(schema::ActivationKind::MAX); ++kind) {
        const Norms& norms = kNorms[kind];
        ModelBuilder builder;
        const uint16_t in = builder.floats("x", kFeatures, 21);
        const auto bias = [](uint32_t n, uint32_t seed) { return random_plain(1, n, seed, 0.3f).values; };
        schema::NodeT node;
        node.up = builder.matrix(random_plain(kHidden, kFeatures, 2, 0.3f), format, bias(kHidden, 3));
        node.down = builder.matrix(random_plain(kFeatures, kHidden, 4, 0.3f), format, bias(kFeatures, 5));
        if (gated) node.gate = builder.matrix(random_plain(kHidden, kFeatures, 6, 0.3f), format, bias(kHidden, 7));
        node.activation = static_cast<schema::ActivationKind>(kind);
        set_norms(builder, norms, &node);
        builder.output("y", builder.node(schema::OpKind::FeedForward, {in}, node));
        const AlignedBytes file = builder.finish();
        const Matrix expected = around(to_matrix(x), norms, [&](const Matrix& rows) {
          Matrix up = linear(rows, builder.stored[0], bias(kHidden, 3));
          const Matrix gate = gated ? linear(rows, builder.stored[2], bias(kHidden, 7)) : up;
          for (size_t r = 0; r < up.size(); ++r) {
            for (size_t c = 0; c < up[r].size(); ++c) {
              const double factor = gated ? up[r][c] : 1;
              up[r][c] = activate(node.activation, gate[r][c]) * factor;
            }
          }
          return linear(up, builder.stored[1], bias(kFeatures, 5));
        });
        INFO(schema::EnumNameFormat(format) << ", gated " << gated << ", activation " << kind);
        Output ref;
        for (const std::string& isa : runnable_isas()) {
          TestSession session(file, {.tile_rows = 8, .isa = isa.c_str()});
          const Output y = session.run({floats_input("x", x)});
          CHECK(snr_db(expected, y) > (format == Format::q8c ? 30 : 105));
          if (ref.rows == 0) ref = y;
          REQUIRE(y == ref);
        }
      }
    }
  }
}

TEST_CASE("Attention: every norm, with and without residual") {
  const Plain x = random_plain(70, kFeatures, 1);
  for (const Norms& norms : kNorms) {
    for (Format format : {Format::f32, Format::q8c}) {
      ModelBuilder builder;
      const uint16_t in = builder.floats("x", kFeatures, 70);
      schema::NodeT node;
      node.query = builder.matrix(random_plain(24, kFeatures, 2, 0.2f), format);
      node.key = builder.matrix(random_plain(24, kFeatures, 3, 0.2f), format);
      node.value = builder.matrix(random_plain(24, kFeatures, 4, 0.2f), format);
      node.output = builder.matrix(random_plain(kFeatures, 24, 5, 0.2f), format);
      node.heads = node.kv_heads = 3;
      node.head_dim = node.value_dim = 8;
      node.scale = 0.35f;
      set_norms(builder, norms, &node);
      builder.output("y", builder.node(schema::OpKind::Attention, {in}, node));
      const AlignedBytes file = builder.finish();
      const Heads heads{3, 3, 8, 8};
      const Matrix expected = around(to_matrix(x), norms, [&](const Matrix& rows) {
        const auto weights = attention_weights(linear(rows, builder.stored[0]), linear(rows, builder.stored[1]), heads,
                                               0.35f, {});
        return linear(pool_values(weights, linear(rows, builder.stored[2]), heads), builder.stored[3]);
      });
      TestSession session(file, {.tile_rows = 8});
      CHECK(snr_db(expected, session.run({floats_input("x", x)})) > (format == Format::q8c ? 30 : 105));
    }
  }
}

TEST_CASE("QNT-06: an input scale changes rounding, not meaning") {
  const Plain x = random_plain(12, kFeatures, 1);
  std::vector<float> scale(kFeatures);
  for (uint32_t i = 0; i < kFeatures; ++i) scale[i] = std::ldexp(1.0f, static_cast<int>(i % 5) - 2) * 1.3f;
  ModelBuilder builder;
  const uint16_t in = builder.floats("x", kFeatures, 12);
  schema::NodeT node;
  node.weight = builder.matrix(random_plain(33, kFeatures, 2), Format::q8c, {}, scale);
  builder.output("y", builder.node(schema::OpKind::Linear, {in}, node));
  const AlignedBytes file = builder.finish();
  TestSession session(file);
  CHECK(snr_db(linear(to_matrix(x), builder.stored[0]), session.run({floats_input("x", x)})) > 30);
}

}  // namespace heed::testing
