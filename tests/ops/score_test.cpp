// Scores and absent projections against the formulas in double precision: dot, general, additive, concat.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

#include "ops/oracle.h"

namespace heed::testing {
namespace {

using schema::Format;
using schema::ScoreKind;

// An Attention node over two inputs and what it computes, from its parts.
struct Model {
  ModelBuilder builder;
  schema::NodeT node;
  std::vector<std::vector<float>> biases;
  Heads heads{1, 1, 24, 24};
  uint32_t features = 24;
  uint32_t source_features = 24;
  std::vector<uint32_t> queries = {5, 1, 33};
  std::vector<uint32_t> keys = {70, 3, 129};
  Plain v;

  int32_t matrix(uint32_t rows, uint32_t cols, Format format) {
    const uint32_t seed = static_cast<uint32_t>(biases.size()) + 1;
    biases.push_back(random_plain(1, rows, seed + 40, 0.3f).values);
    return builder.matrix(random_plain(rows, cols, seed, 1 / std::sqrt(static_cast<float>(cols))), format, biases.back());
  }
  void score_vector() {
    v = random_plain(1, heads.heads * heads.head_dim, 77, 0.7f);
    node.score_weight = builder.norm(v.values);
    biases.emplace_back();
  }
  Matrix project(int32_t id, const Matrix& x) const {
    return id < 0 ? x : linear(x, builder.stored[static_cast<size_t>(id)], biases[static_cast<size_t>(id)]);
  }
};

double score_of(const Model& m, const double* q, const double* k, uint32_t head) {
  double sum = 0;
  for (uint32_t d = 0; d < m.heads.head_dim; ++d) {
    sum += m.v.values.empty() ? q[d] * k[d] : m.v.values[head * m.heads.head_dim + d] * std::tanh(q[d] + k[d]);
  }
  return sum * static_cast<double>(m.node.scale);
}

// Weights of one sequence, [heads][queries][keys].
std::vector<Matrix> weights_of(const Model& m, const Matrix& q, const Matrix& k) {
  std::vector<Matrix> all(m.heads.heads, Matrix(q.size(), Vector(k.size())));
  for (uint32_t h = 0; h < m.heads.heads; ++h) {
    const uint32_t kv = h / (m.heads.heads / m.heads.kv_heads);
    for (size_t i = 0; i < q.size(); ++i) {
      double sum = 0;
      Vector& row = all[h][i];
      for (size_t j = 0; j < k.size(); ++j) {
        row[j] = score_of(m, &q[i][h * m.heads.head_dim], &k[j][kv * m.heads.head_dim], h);
      }
      const double most = *std::max_element(row.begin(), row.end());
      for (double& w : row) sum += w = std::exp(w - most);
      for (double& w : row) w /= sum;
    }
  }
  return all;
}

uint32_t total(const std::vector<uint32_t>& lengths) { return std::accumulate(lengths.begin(), lengths.end(), 0u); }

struct Inputs {
  explicit Inputs(const Model& m)
      : x(random_plain(total(m.queries), m.features, 50)), memory(random_plain(total(m.keys), m.source_features, 51)) {}
  Plain x;
  Plain memory;
};

Output run(Model& m, const Inputs& inputs, const char* isa, uint32_t precision, uint32_t workers = 1) {
  const AlignedBytes file = m.builder.finish();
  TestSession session(file, {.rows = std::max(total(m.queries), total(m.keys)),
                             .sequences = static_cast<uint32_t>(m.queries.size()),
                             .workers = workers, .tile_rows = 8, .precision = precision, .isa = isa});
  return session.run({floats_input("x", inputs.x, m.queries.data()), floats_input("memory", inputs.memory, m.keys.data())},
                     static_cast<uint32_t>(m.queries.size()));
}

Matrix expected(const Model& m, const Inputs& inputs) {
  Matrix rows;
  size_t at = 0;
  size_t key_at = 0;
  for (size_t s = 0; s < m.queries.size(); at += m.queries[s], key_at += m.keys[s], ++s) {
    const Matrix q = m.project(m.node.query, slice(to_matrix(inputs.x), at, m.queries[s]));
    const Matrix source = slice(to_matrix(inputs.memory), key_at, m.keys[s]);
    const auto weights = weights_of(m, q, m.project(m.node.key, source));
    for (const Vector& row : m.project(m.node.output, pool_values(weights, m.project(m.node.value, source), m.heads))) rows.push_back(row);
  }
  return rows;
}

double worst_share(const Matrix& wanted, const Output& found) {
  double largest = 0;
  double error = 0;
  for (uint32_t r = 0; r < found.rows; ++r) {
    for (uint32_t c = 0; c < found.features; ++c) {
      largest = std::max(largest, std::abs(wanted[r][c]));
      error = std::max(error, std::abs(wanted[r][c] - static_cast<double>(found.at(r, c))));
    }
  }
  return error / largest;
}

// `make` adds the weights in a format and sets the node's attributes.
void check_all(const std::function<void(Model&, Format)>& make) {
  for (Format format : {Format::f32, Format::q8c}) {
    Model m;
    make(m, format);
    m.node.heads = m.heads.heads;
    m.node.kv_heads = m.heads.kv_heads;
    m.node.head_dim = m.heads.head_dim;
    m.node.value_dim = m.heads.value_dim;
    const uint16_t x = m.builder.floats("x", m.features, total(m.queries));
    const uint16_t memory = m.builder.floats("memory", m.source_features, total(m.keys), 1);
    m.builder.output("y", m.builder.node(schema::OpKind::Attention, {x, memory}, m.node));
    const Inputs inputs(m);
    const Matrix wanted = expected(m, inputs);
    for (uint32_t precision : {HEED_PRECISION_AUTO, HEED_PRECISION_F32, HEED_PRECISION_INT8}) {
      const Output ref = run(m, inputs, "ref", precision);
      INFO("format " << schema::EnumNameFormat(format) << ", precision " << precision);
      CHECK(snr_db(wanted, ref) > 30);
      if (format == Format::f32 && precision != HEED_PRECISION_INT8) CHECK(worst_share(wanted, ref) < 2e-6);
      for (const std::string& isa : runnable_isas()) REQUIRE(run(m, inputs, isa.c_str(), precision) == ref);
      for (uint32_t workers : {2, 4}) REQUIRE(run(m, inputs, nullptr, precision, workers) == ref);
    }
  }
}

}  // namespace

TEST_CASE("Dot-product attention without any weight: w_ij from x_i . m_j") {
  check_all([](Model& m, Format) {
    m.node.score = ScoreKind::dot;
    m.node.scale = 0.3f;
  });
  check_all([](Model& m, Format) {
    m.heads = {3, 3, 8, 8};
    m.node.scale = 0.35f;
  });
}

TEST_CASE("Each projection may be absent") {
  check_all([](Model& m, Format format) {
    m.heads = {2, 2, 12, 12};
    m.features = 30;
    m.node.query = m.matrix(24, 30, format);
    m.node.scale = 0.3f;
  });
  check_all([](Model& m, Format format) {
    m.heads = {2, 2, 12, 5};
    m.source_features = 30;
    m.node.key = m.matrix(24, 30, format);
    m.node.value = m.matrix(10, 30, format);
    m.node.scale = 0.3f;
  });
  check_all([](Model& m, Format format) {
    m.heads = {2, 2, 12, 5};
    m.node.value = m.matrix(10, 24, format);
    m.node.output = m.matrix(17, 10, format);
    m.node.scale = 0.3f;
  });
}

TEST_CASE("General (bilinear) scores project exactly one side") {
  check_all([](Model& m, Format format) {
    m.features = 17;
    m.node.score = ScoreKind::general;
    m.node.query = m.matrix(24, 17, format);
    m.node.scale = 0.4f;
  });
  check_all([](Model& m, Format format) {
    m.source_features = 24;
    m.node.score = ScoreKind::general;
    m.node.key = m.matrix(24, 24, format);
    m.node.scale = 0.4f;
  });
}

TEST_CASE("Additive (Bahdanau) and concat (Luong) scores: v . tanh(q + k)") {
  for (ScoreKind score : {ScoreKind::additive, ScoreKind::concat}) {
    for (uint32_t width : {1, 2, 15, 16, 33, 129}) {
      check_all([&](Model& m, Format format) {
        m.heads = {1, 1, width, 24};
        m.features = 17;
        m.node.score = score;
        m.node.query = m.matrix(width, 17, format);
        m.node.key = m.matrix(width, 24, format);
        m.score_vector();
      });
    }
  }
  check_all([](Model& m, Format format) {
    m.heads = {4, 2, 6, 7};
    m.node.score = ScoreKind::additive;
    m.node.key = m.matrix(12, 24, format);
    m.node.value = m.matrix(14, 24, format);
    m.score_vector();
    m.node.output = m.matrix(9, 28, format);
  });
}

TEST_CASE("Scratch of attention is the same for 128 and 8,192 keys, whatever the score") {
  for (ScoreKind score : {ScoreKind::scaled_dot, ScoreKind::additive}) {
    ModelBuilder builder;
    schema::NodeT node;
    node.score = score;
    node.heads = node.kv_heads = 1;
    node.head_dim = node.value_dim = 24;
    if (score == ScoreKind::additive) node.score_weight = builder.norm(random_plain(1, 24, 1).values);
    builder.output("y", builder.node(schema::OpKind::Attention, {builder.floats("x", 24, 8192)}, node));
    const AlignedBytes file = builder.finish();
    CHECK(TestSession(file, {.rows = 128}).memory.scratch_bytes == TestSession(file, {.rows = 8192}).memory.scratch_bytes);
  }
}

TEST_CASE("Scores that do not fit their weights are refused by name") {
  const auto refused = [](const std::function<void(Model&)>& change) {
    Model m;
    m.node.heads = m.node.kv_heads = 1;
    m.node.head_dim = m.node.value_dim = 24;
    const uint16_t x = m.builder.floats("x", 24, 9);
    change(m);
    m.builder.output("y", m.builder.node(schema::OpKind::Attention, {x}, m.node));
    const AlignedBytes file = m.builder.finish();
    heed_model model;
    heed_diagnostic diagnostic;
    heed_open(file.data(), file.size(), 0, &model, &diagnostic);
    return std::string(diagnostic.what ? diagnostic.what : "");
  };
  CHECK(refused([](Model&) {}).empty());
  CHECK(refused([](Model& m) { m.node.score = ScoreKind::location; }) == "score");
  CHECK(refused([](Model& m) { m.node.score = ScoreKind::cosine; }) == "score");
  CHECK(refused([](Model& m) { m.node.score = ScoreKind::general; }) == "general projects exactly one of query and key");
  CHECK(refused([](Model& m) { m.node.score = ScoreKind::additive; }) == "score_weight belongs to additive scores");
  CHECK(refused([](Model& m) { m.score_vector(); }) == "score_weight belongs to additive scores");
  CHECK(refused([](Model& m) { m.node.head_dim = 23; }) == "query");
  CHECK(refused([](Model& m) { m.node.value_dim = 23; }) == "value");
  CHECK(refused([](Model& m) { m.node.position_kind = schema::PositionKind::alibi; }) == "position_kind");
  CHECK(refused([](Model& m) {
          m.heads.head_dim = 23;
          m.node.score = ScoreKind::additive;
          m.score_vector();
        }) == "score_weight");
}

}  // namespace heed::testing
