// Recurrent against PyTorch's formulas in double precision: GRU and LSTM, every direction, starts, ragged lengths.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <numeric>

#include "ops/oracle.h"

namespace heed::testing {
namespace {

using schema::CellKind;
using schema::DirectionKind;
using schema::Format;

struct Case {
  CellKind cell = CellKind::gru;
  DirectionKind direction = DirectionKind::forward;
  uint32_t features = 12;
  uint32_t hidden = 20;
  std::vector<uint32_t> lengths = {7};
  bool start = false;
  Format format = Format::f32;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// h and m of one direction.
struct Hidden {
  Vector h;
  Vector m;
};

class Layer {
 public:
  explicit Layer(const Case& c) : case_(c), gates_(c.cell == CellKind::lstm ? 4 : 3) {
    const uint32_t most = *std::max_element(c.lengths.begin(), c.lengths.end());
    schema::NodeT node;
    node.cell = c.cell;
    node.direction = c.direction;
    node.weight = matrix(c.features, 1);
    node.recurrent = matrix(c.hidden, 2);
    if (c.direction == DirectionKind::both) {
      node.backward_weight = matrix(c.features, 3);
      node.backward_recurrent = matrix(c.hidden, 4);
    }
    // With two rows at least, so that a sequence of one is ragged too.
    std::vector<uint16_t> inputs = {builder_.floats("x", c.features, std::max(most, 2u))};
    const uint32_t kept = c.cell == CellKind::lstm ? 2 : 1;
    for (uint32_t i = 0; c.start && i < kept; ++i) inputs.push_back(builder_.floats(i ? "m" : "h", width(), 1, 1));
    const auto outputs = builder_.nodes(schema::OpKind::Recurrent, inputs, c.start ? 1 + kept : 1, node);
    for (size_t i = 0; i < outputs.size(); ++i) builder_.output("y" + std::to_string(i), outputs[i]);
    file_ = builder_.finish();
    x_ = random_plain(rows(), c.features, 60);
    h_ = random_plain(sequences(), width(), 61, 0.5f);
    m_ = random_plain(sequences(), width(), 62, 0.5f);
  }

  uint32_t rows() const { return std::accumulate(case_.lengths.begin(), case_.lengths.end(), 0u); }
  uint32_t sequences() const { return static_cast<uint32_t>(case_.lengths.size()); }
  uint32_t directions() const { return case_.direction == DirectionKind::both ? 2 : 1; }
  uint32_t width() const { return directions() * case_.hidden; }
  bool lstm() const { return case_.cell == CellKind::lstm; }

  std::vector<Output> run(const char* isa = nullptr, uint32_t workers = 1, uint32_t tile_rows = 8) const {
    TestSession session(file_, {.rows = std::max(rows(), 2u), .sequences = sequences(), .workers = workers,
                                .tile_rows = tile_rows, .isa = isa});
    std::vector<heed_input> inputs = {floats_input("x", x_, case_.lengths.data())};
    const std::vector<uint32_t> ones(sequences(), 1);
    if (case_.start) inputs.push_back(floats_input("h", h_, ones.data()));
    if (case_.start && lstm()) inputs.push_back(floats_input("m", m_, ones.data()));
    std::vector<Output> outputs = {session.run(inputs, sequences())};
    for (uint32_t i = 1; i < (case_.start ? lstm() ? 3u : 2u : 1u); ++i) outputs.push_back(session.output(i));
    return outputs;
  }

  std::vector<Matrix> expected() const {
    std::vector<Matrix> out(3);
    out[0].assign(rows(), Vector(width()));
    size_t begin = 0;
    for (uint32_t s = 0; s < sequences(); begin += case_.lengths[s++]) {
      Vector h(width());
      Vector m(width());
      for (uint32_t d = 0; d < directions(); ++d) {
        const Hidden last = run_direction(s, begin, d, out[0]);
        std::copy(last.h.begin(), last.h.end(), h.begin() + d * case_.hidden);
        std::copy(last.m.begin(), last.m.end(), m.begin() + d * case_.hidden);
      }
      out[1].push_back(h);
      out[2].push_back(m);
    }
    return out;
  }

 private:
  int32_t matrix(uint32_t cols, uint32_t seed) {
    const uint32_t rows = gates_ * case_.hidden;
    biases_.push_back(random_plain(1, rows, seed + 40, 0.3f).values);
    const float size = 1.0f / std::sqrt(static_cast<float>(cols));
    return builder_.matrix(random_plain(rows, cols, seed, size), case_.format, biases_.back());
  }

  Hidden run_direction(uint32_t s, size_t begin, uint32_t d, Matrix& out) const {
    const uint32_t n = case_.hidden;
    Hidden now{Vector(n), Vector(n)};
    for (uint32_t i = 0; case_.start && i < n; ++i) {
      now.h[i] = h_.at(s, d * n + i);
      now.m[i] = m_.at(s, d * n + i);
    }
    const bool backward = d == 1 || case_.direction == DirectionKind::backward;
    for (uint32_t t = 0; t < case_.lengths[s]; ++t) {
      const size_t row = begin + (backward ? case_.lengths[s] - 1 - t : t);
      now = advance(Vector(to_matrix(x_)[row]), now, d);
      std::copy(now.h.begin(), now.h.end(), out[row].begin() + d * n);
    }
    return now;
  }

  Hidden advance(const Vector& x, const Hidden& before, uint32_t d) const {
    const uint32_t n = case_.hidden;
    const Vector a = linear({x}, builder_.stored[2 * d], biases_[2 * d])[0];
    const Vector b = linear({before.h}, builder_.stored[2 * d + 1], biases_[2 * d + 1])[0];
    Hidden after{Vector(n), before.m};
    for (uint32_t i = 0; i < n; ++i) {
      if (lstm()) {
        after.m[i] = sigmoid(a[n + i] + b[n + i]) * before.m[i] + sigmoid(a[i] + b[i]) * std::tanh(a[2 * n + i] + b[2 * n + i]);
        after.h[i] = sigmoid(a[3 * n + i] + b[3 * n + i]) * std::tanh(after.m[i]);
      } else {
        const double r = sigmoid(a[i] + b[i]);
        const double z = sigmoid(a[n + i] + b[n + i]);
        after.h[i] = (1 - z) * std::tanh(a[2 * n + i] + r * b[2 * n + i]) + z * before.h[i];
      }
    }
    return after;
  }

  Case case_;
  uint32_t gates_;
  ModelBuilder builder_;
  std::vector<std::vector<float>> biases_;
  AlignedBytes file_;
  Plain x_, h_, m_;
};

double worst_share(const Matrix& expected, const Output& got) {
  double largest = 0;
  double error = 0;
  for (uint32_t r = 0; r < got.rows; ++r) {
    for (uint32_t c = 0; c < got.features; ++c) {
      largest = std::max(largest, std::abs(expected[r][c]));
      error = std::max(error, std::abs(expected[r][c] - static_cast<double>(got.at(r, c))));
    }
  }
  return error / largest;
}

void check_all(Case c) {
  for (Format format : {Format::f32, Format::f16, Format::q8c}) {
    c.format = format;
    const Layer layer(c);
    const std::vector<Matrix> expected = layer.expected();
    const std::vector<Output> ref = layer.run("ref");
    INFO(schema::EnumNameCellKind(c.cell) << " " << schema::EnumNameDirectionKind(c.direction) << ", hidden " << c.hidden
                                          << ", format " << schema::EnumNameFormat(format));
    for (size_t i = 0; i < ref.size(); ++i) {
      REQUIRE(ref[i].rows == expected[i].size());
      if (format == Format::q8c) {
        CHECK(snr_db(expected[i], ref[i]) > 28);
      } else {
        CHECK(worst_share(expected[i], ref[i]) < 2e-6);
      }
    }
    for (const std::string& isa : runnable_isas()) REQUIRE(layer.run(isa.c_str()) == ref);
    for (uint32_t workers : {2, 4}) REQUIRE(layer.run(nullptr, workers, 16) == ref);
  }
}

}  // namespace

TEST_CASE("GRU and LSTM in every direction over ragged sequences") {
  for (CellKind cell : {CellKind::gru, CellKind::lstm}) {
    for (DirectionKind direction : {DirectionKind::forward, DirectionKind::backward, DirectionKind::both}) {
      check_all({.cell = cell, .direction = direction, .lengths = {1, 9, 40, 2, 8}});
    }
  }
}

TEST_CASE("A start takes the place of zeros, and the last h and m come out") {
  for (CellKind cell : {CellKind::gru, CellKind::lstm}) {
    for (DirectionKind direction : {DirectionKind::forward, DirectionKind::backward, DirectionKind::both}) {
      check_all({.cell = cell, .direction = direction, .lengths = {3, 1, 17}, .start = true});
    }
  }
}

TEST_CASE("SHAPE-03: cells of any width") {
  for (CellKind cell : {CellKind::gru, CellKind::lstm}) {
    for (uint32_t hidden : {1, 2, 3, 7, 16, 17, 33, 64, 129}) {
      for (uint32_t features : {1u, 5u, 64u, 129u}) {
        const Layer layer({.cell = cell, .direction = DirectionKind::both, .features = features, .hidden = hidden,
                           .lengths = {5, 1}, .start = true});
        const std::vector<Matrix> expected = layer.expected();
        const std::vector<Output> ref = layer.run("ref");
        INFO("hidden " << hidden << ", features " << features);
        for (size_t i = 0; i < ref.size(); ++i) CHECK(worst_share(expected[i], ref[i]) < 2e-6);
        for (const std::string& isa : runnable_isas()) REQUIRE(layer.run(isa.c_str()) == ref);
      }
    }
  }
}

TEST_CASE("Scratch of a recurrent layer does not grow with the sequence") {
  const AlignedBytes file = [] {
    ModelBuilder builder;
    schema::NodeT node;
    node.weight = builder.matrix(random_plain(60, 12, 1), Format::q8c);
    node.recurrent = builder.matrix(random_plain(60, 20, 2), Format::q8c);
    builder.output("y", builder.node(schema::OpKind::Recurrent, {builder.floats("x", 12, 8192)}, node));
    return builder.finish();
  }();
  TestSession small(file, {.rows = 128});
  TestSession large(file, {.rows = 8192});
  CHECK(small.memory.scratch_bytes == large.memory.scratch_bytes);
  CHECK(large.memory.workspace_bytes == 0);
}

TEST_CASE("A recurrent layer with a wrong weight, start or direction is refused") {
  const auto refused = [](const auto& change) {
    ModelBuilder builder;
    schema::NodeT node;
    node.weight = builder.matrix(random_plain(60, 12, 1), Format::f32);
    node.recurrent = builder.matrix(random_plain(60, 20, 2), Format::f32);
    std::vector<uint16_t> inputs = {builder.floats("x", 12, 9)};
    uint32_t outputs = 1;
    change(builder, node, inputs, outputs);
    const auto values = builder.nodes(schema::OpKind::Recurrent, inputs, outputs, node);
    builder.output("y", values[0]);
    const AlignedBytes file = builder.finish();
    heed_model model;
    heed_diagnostic diagnostic;
    const heed_status status = heed_open(file.data(), file.size(), 0, &model, &diagnostic);
    return std::pair(status, std::string(diagnostic.what ? diagnostic.what : ""));
  };
  using Inputs = std::vector<uint16_t>;
  CHECK(refused([](auto&, auto&, Inputs&, uint32_t&) {}).first == HEED_OK);
  CHECK(refused([](auto&, auto& node, Inputs&, uint32_t&) { node.recurrent = -1; }).second == "recurrent");
  CHECK(refused([](auto&, auto& node, Inputs&, uint32_t&) { node.cell = CellKind::lstm; }).first == HEED_BAD_SHAPE);
  CHECK(refused([](auto&, auto& node, Inputs&, uint32_t&) { node.direction = DirectionKind::both; }).first == HEED_BAD_GRAPH);
  CHECK(refused([](auto&, auto& node, Inputs&, uint32_t&) { node.backward_weight = 0; }).first == HEED_BAD_GRAPH);
  CHECK(refused([](auto&, auto&, Inputs&, uint32_t& outputs) { outputs = 3; }).first == HEED_BAD_GRAPH);
  CHECK(refused([](auto& b, auto&, Inputs& in, uint32_t&) { in.push_back(b.floats("h", 20, 5, 1)); }).first == HEED_BAD_SHAPE);
  CHECK(refused([](auto& b, auto&, Inputs& in, uint32_t&) { in.push_back(b.floats("h", 21, 1, 1)); }).first == HEED_BAD_SHAPE);
  CHECK(refused([](auto& b, auto&, Inputs& in, uint32_t&) { in.push_back(b.floats("h", 20, 1, 1)); }).first == HEED_OK);
}

}  // namespace heed::testing
