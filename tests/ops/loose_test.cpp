// The ops between blocks: Embed, Linear, Norm, Activation, Add, Mul, Softmax, Pool, L2Normalize, Concat, Slice.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "ops/oracle.h"

namespace heed::testing {
namespace {

using schema::Format;
using schema::OpKind;

// Runs a graph of one node over one f32 input, on every instruction set.
Output run_one(OpKind op, const Plain& x, const schema::NodeT& node, ModelBuilder builder = {},
               const std::vector<uint32_t>& lengths = {}) {
  const uint16_t in = builder.floats("x", x.cols, x.rows);
  builder.output("y", builder.node(op, {in}, node));
  const AlignedBytes file = builder.finish();
  const uint32_t sequences = lengths.empty() ? 1 : static_cast<uint32_t>(lengths.size());
  Output first;
  for (const std::string& isa : runnable_isas()) {
    TestSession session(file, {.sequences = sequences, .tile_rows = 8, .isa = isa.c_str()});
    const Output y = session.run({floats_input("x", x, lengths.empty() ? nullptr : lengths.data())}, sequences);
    if (first.rows == 0) first = y;
    REQUIRE(y == first);
  }
  return first;
}

}  // namespace

TEST_CASE("Linear: every format, every activation, widths around whole panels") {
  for (Format format : {Format::f32, Format::f16, Format::q8c}) {
    for (uint32_t cols : {1u, 3u, 4u, 16u, 33u, 100u}) {
      for (uint32_t rows : {1u, 15u, 16u, 17u, 65u}) {
        const auto kind = static_cast<schema::ActivationKind>((rows + cols) % 7);
        ModelBuilder builder;
        schema::NodeT node;
        const std::vector<float> bias = random_plain(1, rows, 3).values;
        node.weight = builder.matrix(random_plain(rows, cols, 2), format, bias);
        node.activation = kind;
        const Plain x = random_plain(19, cols, 1);
        const Matrix sums = linear(to_matrix(x), builder.stored[0], bias);
        Matrix expected = sums;
        for (Vector& row : expected) {
          for (double& value : row) value = activate(kind, value);
        }
        const Output y = run_one(OpKind::Linear, x, node, std::move(builder));
        INFO(schema::EnumNameFormat(format) << " " << rows << " x " << cols << ", activation " << static_cast<int>(kind));
        CHECK(snr_db(expected, y) > (format == Format::q8c ? 26 : 100));
      }
    }
  }
}

TEST_CASE("Norm: layer and RMS, with and without shift") {
  const Plain x = random_plain(19, 37, 1, 3.0f);
  for (bool rms : {false, true}) {
    for (bool shifted : {false, true}) {
      ModelBuilder builder;
      const std::vector<float> gain = random_plain(1, 37, 2).values;
      const std::vector<float> shift = shifted ? random_plain(1, 37, 3).values : std::vector<float>{};
      schema::NodeT node;
      node.weight = builder.norm(gain, shift);
      node.norm_kind = rms ? schema::NormKind::rms : schema::NormKind::layer;
      node.epsilon = 1e-6f;
      Matrix expected = to_matrix(x);
      for (Vector& row : expected) row = norm(row, gain, shift, 1e-6f, rms);
      CHECK(snr_db(expected, run_one(OpKind::Norm, x, node, std::move(builder))) > 115);
    }
  }
}

TEST_CASE("Activation: every kind") {
  const Plain x = random_plain(9, 50, 1, 3.0f);
  for (int kind = 0; kind <= static_cast<int>(schema::ActivationKind::MAX); ++kind) {
    schema::NodeT node;
    node.activation = static_cast<schema::ActivationKind>(kind);
    Matrix expected = to_matrix(x);
    for (Vector& row : expected) {
      for (double& value : row) value = activate(node.activation, value);
    }
    INFO(kind);
    CHECK(snr_db(expected, run_one(OpKind::Activation, x, node)) > 110);
  }
}

TEST_CASE("NUM-02: GELU by tanh of 0, 1, 3 and 9") {
  const Plain x{1, 4, {0, 1, 3, 9}};
  schema::NodeT node;
  node.activation = schema::ActivationKind::gelu_tanh;
  const Output y = run_one(OpKind::Activation, x, node);
  CHECK(y.at(0, 0) == 0);
  CHECK(y.at(0, 1) == Approx(0.841192).margin(1e-6));
  CHECK(y.at(0, 2) == Approx(2.996363).margin(1e-6));
  CHECK(y.at(0, 3) == Approx(9.0).margin(1e-6));
}

TEST_CASE("Softmax: rows of their own, large numbers, MASK-08") {
  const Plain x = random_plain(19, 37, 1, 5.0f);
  Matrix expected = to_matrix(x);
  for (Vector& row : expected) {
    double sum = 0;
    for (double& value : row) sum += value = std::exp(value);
    for (double& value : row) value /= sum;
  }
  CHECK(snr_db(expected, run_one(OpKind::Softmax, x, {})) > 110);
  const Output y = run_one(OpKind::Softmax, {2, 3, {1000, 999, 0, -1000, -1001, -2000}}, {});
  for (uint32_t r : {0u, 1u}) {
    CHECK(y.at(r, 0) == Approx(0.7310586).margin(1e-6));
    CHECK(y.at(r, 1) == Approx(0.2689414).margin(1e-6));
    CHECK(y.at(r, 2) == 0);
  }
}

TEST_CASE("Pool: first, mean, max and last of each sequence") {
  const std::vector<uint32_t> lengths = {1, 5, 2, 12};
  const Plain x = random_plain(20, 33, 1);
  for (int kind = 0; kind <= static_cast<int>(schema::PoolKind::last); ++kind) {
    schema::NodeT node;
    node.pool = static_cast<schema::PoolKind>(kind);
    Matrix expected;
    for (size_t s = 0, at = 0; s < lengths.size(); at += lengths[s++]) {
      const Matrix rows = slice(to_matrix(x), at, lengths[s]);
      Vector row = kind == static_cast<int>(schema::PoolKind::last) ? rows.back() : rows[0];
      for (size_t r = 1; r < rows.size(); ++r) {
        for (size_t c = 0; c < row.size(); ++c) {
          if (node.pool == schema::PoolKind::mean) row[c] += rows[r][c];
          if (node.pool == schema::PoolKind::max) row[c] = std::max(row[c], rows[r][c]);
        }
      }
      if (node.pool == schema::PoolKind::mean) {
        for (double& value : row) value /= lengths[s];
      }
      expected.push_back(row);
    }
    const Output y = run_one(OpKind::Pool, x, node, {}, lengths);
    CHECK(y.rows == 4);
    CHECK(snr_db(expected, y) > 120);
  }
}

TEST_CASE("NUM-05: a mean is over the rows there are") {
  schema::NodeT node;
  node.pool = schema::PoolKind::mean;
  const Output y = run_one(OpKind::Pool, {4, 2, {1, 0, 1, 0, 0, 2, 0, 2}}, node, {}, {2, 2});
  CHECK(y.values == std::vector<float>{1, 0, 0, 2});
}

TEST_CASE("L2Normalize: unit length, and zeros stay zeros") {
  Plain x = random_plain(7, 29, 1);
  for (uint32_t c = 0; c < 29; ++c) x.at(3, c) = 0;
  Matrix expected = to_matrix(x);
  for (Vector& row : expected) {
    double sum = 0;
    for (double value : row) sum += value * value;
    for (double& value : row) value = sum > 0 ? value / std::sqrt(sum) : 0;
  }
  const Output y = run_one(OpKind::L2Normalize, x, {});
  CHECK(snr_db(expected, y) > 115);
  for (uint32_t c = 0; c < 29; ++c) CHECK(y.at(3, c) == 0);
}

TEST_CASE("Add and Mul of two values") {
  for (OpKind op : {OpKind::Add, OpKind::Mul}) {
    ModelBuilder builder;
    const uint16_t a = builder.floats("a", 21, 9);
    const uint16_t b = builder.floats("b", 21, 9);
    builder.output("y", builder.node(op, {a, b}));
    const AlignedBytes file = builder.finish();
    TestSession session(file, {.tile_rows = 8});
    const Plain left = random_plain(9, 21, 1);
    const Plain right = random_plain(9, 21, 2);
    const Output y = session.run({floats_input("a", left), floats_input("b", right)});
    for (size_t i = 0; i < y.values.size(); ++i) {
      const float l = left.values[i];
      const float r = right.values[i];
      REQUIRE(y.values[i] == (op == OpKind::Add ? l + r : l * r));
    }
  }
}

TEST_CASE("Embed: token, position by place in the sequence, segment, scale, norm, every format") {
  for (Format format : {Format::f32, Format::f16, Format::q8c}) {
    for (bool normed : {false, true}) {
      ModelBuilder builder;
      const uint16_t tokens = builder.ids("tokens", 10);
      const uint16_t segments = builder.ids("segments", 10);
      const std::vector<float> gain = random_plain(1, 19, 4).values;
      schema::NodeT node;
      node.token = builder.table(random_plain(30, 19, 1), format);
      node.position = builder.table(random_plain(12, 19, 2), format);
      node.segment = builder.table(random_plain(2, 19, 3), format);
      node.position_offset = 2;
      node.scale = 1.75f;
      if (normed) node.norm_out = builder.norm(gain);
      builder.output("y", builder.node(OpKind::Embed, {tokens, segments}, node));
      const AlignedBytes file = builder.finish();
      const std::vector<int32_t> ids = {0, 29, 7, 7, 1, 2, 3, 4, 5, 6};
      const std::vector<int32_t> kinds = {0, 1, 0, 1, 1, 0, 0, 0, 1, 1};
      const uint32_t lengths[] = {3, 1, 6};
      TestSession session(file, {.sequences = 3, .tile_rows = 8});
      const Output y = session.run({ids_input("tokens", ids, lengths), ids_input("segments", kinds)}, 3);
      Matrix expected;
      for (uint32_t r = 0; r < 10; ++r) {
        const uint32_t place = 2 + (r < 3 ? r : r < 4 ? r - 3 : r - 4);
        Vector row(19);
        for (uint32_t c = 0; c < 19; ++c) {
          row[c] = 1.75 * builder.stored[0].at(static_cast<uint32_t>(ids[r]), c) + builder.stored[1].at(place, c) +
                   builder.stored[2].at(static_cast<uint32_t>(kinds[r]), c);
        }
        expected.push_back(normed ? norm(row, gain, {}, 1e-12, false) : row);
      }
      CHECK(snr_db(expected, y) > 115);
    }
  }
}

TEST_CASE("Embed reads a token table that lies in panels for a product as one that lies in rows, bit for bit") {
  for (Format format : {Format::f32, Format::f16, Format::q8c}) {
    for (const uint32_t cols : {1u, 3u, 19u, 64u, 130u, 255u, 260u, 515u}) {
      std::vector<Output> found;
      for (const bool panels : {false, true}) {
        ModelBuilder builder;
        const uint16_t tokens = builder.ids("tokens", 6);
        const Plain plain = random_plain(37, cols, cols);
        schema::NodeT node;
        node.token = panels ? builder.matrix(plain, format, std::vector<float>(37, 5.0f)) : builder.table(plain, format);
        node.position = builder.table(random_plain(6, cols, 2), format);
        node.scale = 1.75f;
        builder.output("y", builder.node(OpKind::Embed, {tokens}, node));
        const AlignedBytes file = builder.finish();
        for (const std::string& isa : runnable_isas()) {
          TestSession session(file, {.tile_rows = 8, .isa = isa.c_str()});
          found.push_back(session.run({ids_input("tokens", {0, 36, 15, 16, 17, 1})}));
          INFO(isa << " " << cols << " columns");
          REQUIRE(found.back() == found.front());
        }
      }
    }
  }
}

TEST_CASE("Embed refuses position and segment tables in panels, and token tables with an input scale") {
  const auto refused = [](const auto& change) {
    ModelBuilder builder;
    const uint16_t tokens = builder.ids("tokens", 6);
    const uint16_t segments = builder.ids("segments", 6);
    schema::NodeT node;
    node.token = builder.table(random_plain(8, 4, 1), Format::q8c);
    node.position = builder.table(random_plain(6, 4, 2), Format::q8c);
    node.segment = builder.table(random_plain(2, 4, 3), Format::q8c);
    change(builder, node);
    builder.output("y", builder.node(OpKind::Embed, {tokens, segments}, node));
    const AlignedBytes file = builder.finish();
    heed_model model;
    return heed_open(file.data(), file.size(), 0, &model, nullptr) == HEED_UNSUPPORTED;
  };
  CHECK(refused([](auto& b, auto& n) { n.position = b.matrix(random_plain(6, 4, 2), Format::q8c); }));
  CHECK(refused([](auto& b, auto& n) { n.segment = b.matrix(random_plain(2, 4, 3), Format::q8c); }));
  CHECK(refused([](auto& b, auto& n) { n.token = b.matrix(random_plain(8, 4, 1), Format::q8c, {}, {1, 2, 1, 1}); }));
}

TEST_CASE("QNT-01: rows of zeros give the bias, not NaN") {
  ModelBuilder builder;
  schema::NodeT node;
  const std::vector<float> bias = random_plain(1, 20, 3).values;
  Plain weight = random_plain(20, 24, 2);
  for (uint32_t c = 0; c < 24; ++c) weight.at(0, c) = 0;
  node.weight = builder.matrix(weight, Format::q8c, bias);
  Plain x = random_plain(3, 24, 1);
  for (uint32_t c = 0; c < 24; ++c) x.at(1, c) = 0;
  const Output y = run_one(OpKind::Linear, x, node, std::move(builder));
  for (uint32_t o = 0; o < 20; ++o) CHECK(y.at(1, o) == bias[o]);
  for (uint32_t r = 0; r < 3; ++r) CHECK(y.at(r, 0) == bias[0]);
}

TEST_CASE("Concat puts features side by side, Slice takes some of them, of any width") {
  for (uint32_t a : {1u, 3u, 16u, 33u}) {
    for (uint32_t b : {1u, 5u, 16u, 129u}) {
      ModelBuilder builder;
      const uint16_t x = builder.floats("x", a, 40);
      const uint16_t y = builder.floats("y", b, 40);
      const uint16_t all = builder.node(OpKind::Concat, {x, y, x});
      schema::NodeT node;
      node.slice_begin = a - 1;
      node.slice_end = a + b + 1;
      builder.output("all", all);
      builder.output("part", builder.node(OpKind::Slice, {all}, node));
      const AlignedBytes file = builder.finish();
      const Plain first = random_plain(19, a, 1);
      const Plain second = random_plain(19, b, 2);
      TestSession session(file, {.workers = 2, .tile_rows = 8});
      const Output whole = session.run({floats_input("x", first), floats_input("y", second)});
      const Output part = session.output(1);
      REQUIRE(whole.features == 2 * a + b);
      REQUIRE(part.features == b + 2);
      for (uint32_t r = 0; r < 19; ++r) {
        for (uint32_t c = 0; c < whole.features; ++c) {
          const bool own = c < a || c >= a + b;
          REQUIRE(whole.at(r, c) == (own ? first.at(r, c < a ? c : c - a - b) : second.at(r, c - a)));
        }
        for (uint32_t c = 0; c < part.features; ++c) REQUIRE(part.at(r, c) == whole.at(r, a - 1 + c));
      }
    }
  }
}

TEST_CASE("An input of one row for each sequence goes with rows of that shape; what does not fit is refused") {
  const auto opens = [](uint32_t max_rows, uint32_t begin, uint32_t end) {
    ModelBuilder builder;
    const uint16_t x = builder.floats("x", 6, 9);
    const uint16_t one = builder.floats("one", 4, max_rows, 1);
    schema::NodeT pool;
    pool.pool = schema::PoolKind::last;
    schema::NodeT slice;
    slice.slice_begin = begin;
    slice.slice_end = end;
    const uint16_t last = builder.node(OpKind::Pool, {x}, pool);
    builder.output("y", builder.node(OpKind::Slice, {builder.node(OpKind::Concat, {last, one})}, slice));
    const AlignedBytes file = builder.finish();
    heed_model model;
    return heed_open(file.data(), file.size(), 0, &model, nullptr);
  };
  CHECK(opens(1, 0, 10) == HEED_OK);
  CHECK(opens(2, 0, 10) == HEED_BAD_SHAPE);
  CHECK(opens(1, 0, 11) == HEED_BAD_SHAPE);
  CHECK(opens(1, 3, 3) == HEED_BAD_SHAPE);
  CHECK(opens(1, 4, 3) == HEED_BAD_SHAPE);
}

}  // namespace heed::testing
