// Attention against the formula in double precision: heads, masks, ragged sequences, cross-attention, odd sizes, tap.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <numeric>

#include "ops/oracle.h"

namespace heed::testing {
namespace {

using schema::Format;

// What f32 keeps, and what int8 rows, keys and values keep, of outputs made of random numbers.
constexpr double kFloatDb = 110;
constexpr double kInt8Db = 30;

struct Case {
  Heads heads{4, 4, 8, 8};
  Mask mask = {};
  std::vector<uint32_t> queries = {20};
  std::vector<uint32_t> keys = {};  // of a second input; empty: the queries' own rows
  uint32_t features = 24;
  uint32_t source_features = 24;
  bool bias = true;
  float scale = 0.35f;
  Format format = Format::f32;
  uint32_t precision = HEED_PRECISION_AUTO;
};

uint32_t total(const std::vector<uint32_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), 0u);
}

class Attention {
 public:
  explicit Attention(const Case& c) : case_(c) {
    const bool cross = !c.keys.empty();
    const uint32_t source = cross ? c.source_features : c.features;
    const uint16_t x = builder_.floats("x", c.features, total(c.queries));
    std::vector<uint16_t> inputs = {x};
    if (cross) inputs.push_back(builder_.floats("memory", source, total(c.keys), 1));
    schema::NodeT node;
    node.query = matrix(c.heads.heads * c.heads.head_dim, c.features, 1);
    node.key = matrix(c.heads.kv_heads * c.heads.head_dim, source, 2);
    node.value = matrix(c.heads.kv_heads * c.heads.value_dim, source, 3);
    node.output = matrix(c.features, c.heads.heads * c.heads.value_dim, 4);
    node.heads = c.heads.heads;
    node.kv_heads = c.heads.kv_heads;
    node.head_dim = c.heads.head_dim;
    node.value_dim = c.heads.value_dim;
    node.scale = c.scale;
    node.causal = c.mask.causal;
    node.causal_top_left = c.mask.top_left;
    node.window_left = c.mask.left;
    node.window_right = c.mask.right;
    builder_.output("y", builder_.node(schema::OpKind::Attention, inputs, node));
    file_ = builder_.finish();
    x_ = random_plain(total(c.queries), c.features, 50);
    if (cross) memory_ = random_plain(total(c.keys), source, 51);
  }

  Options options(const char* isa = nullptr) const {
    return {.rows = std::max(total(case_.queries), total(case_.keys)),
            .sequences = static_cast<uint32_t>(case_.queries.size()),
            .tile_rows = 8,
            .precision = case_.precision,
            .isa = isa};
  }
  std::vector<heed_input> inputs() const {
    std::vector<heed_input> inputs = {floats_input("x", x_, case_.queries.data())};
    if (!case_.keys.empty()) inputs.push_back(floats_input("memory", memory_, case_.keys.data()));
    return inputs;
  }
  Output run(const char* isa = nullptr) const {
    TestSession session(file_, options(isa));
    return session.run(inputs(), static_cast<uint32_t>(case_.queries.size()));
  }

  // weights[sequence][head][query][key]
  std::vector<std::vector<Matrix>> weights() const {
    std::vector<std::vector<Matrix>> all;
    size_t at = 0;
    size_t key_at = 0;
    for (size_t s = 0; s < case_.queries.size(); ++s) {
      const Matrix x = slice(to_matrix(x_), at, case_.queries[s]);
      const Matrix source = source_rows(s, at, key_at);
      all.push_back(attention_weights(project(x, 0), project(source, 1), case_.heads, case_.scale, case_.mask));
      at += case_.queries[s];
      key_at += case_.keys.empty() ? 0 : case_.keys[s];
    }
    return all;
  }

  Matrix expected() const {
    Matrix out;
    size_t at = 0;
    size_t key_at = 0;
    const auto all = weights();
    for (size_t s = 0; s < case_.queries.size(); ++s) {
      const Matrix v = project(source_rows(s, at, key_at), 2);
      const Matrix y = project(pool_values(all[s], v, case_.heads), 3);
      out.insert(out.end(), y.begin(), y.end());
      at += case_.queries[s];
      key_at += case_.keys.empty() ? 0 : case_.keys[s];
    }
    return out;
  }

  const AlignedBytes& file() const { return file_; }
  Plain& x() { return x_; }

 private:
  Matrix source_rows(size_t s, size_t at, size_t key_at) const {
    return case_.keys.empty() ? slice(to_matrix(x_), at, case_.queries[s])
                              : slice(to_matrix(memory_), key_at, case_.keys[s]);
  }
  int32_t matrix(uint32_t rows, uint32_t cols, uint32_t seed) {
    biases_.push_back(case_.bias ? random_plain(1, rows, seed + 40, 0.3f).values : std::vector<float>{});
    return builder_.matrix(random_plain(rows, cols, seed, 1.0f / std::sqrt(static_cast<float>(cols))), case_.format,
                           biases_.back());
  }
  Matrix project(const Matrix& x, size_t weight) const { return linear(x, builder_.stored[weight], biases_[weight]); }

  Case case_;
  ModelBuilder builder_;
  std::vector<std::vector<float>> biases_;
  AlignedBytes file_;
  Plain x_;
  Plain memory_;
};

// In f32, in int8 attention with f32 weights, and all int8.
void check_all(Case c) {
  for (Format format : {Format::f32, Format::q8c}) {
    for (uint32_t precision : {HEED_PRECISION_F32, HEED_PRECISION_INT8}) {
      c.format = format;
      c.precision = precision;
      const Attention attention(c);
      const Matrix expected = attention.expected();
      const bool exact = format == Format::f32 && precision == HEED_PRECISION_F32;
      const Output ref = attention.run("ref");
      INFO("format " << schema::EnumNameFormat(format) << ", precision " << precision);
      CHECK(snr_db(expected, ref) > (exact ? kFloatDb : kInt8Db));
      for (const std::string& isa : runnable_isas()) REQUIRE(attention.run(isa.c_str()) == ref);
    }
  }
}

}  // namespace

TEST_CASE("Self-attention over ragged sequences") { check_all({.queries = {1, 70, 16, 129, 3, 64}}); }

TEST_CASE("Self-attention without biases") { check_all({.queries = {5, 33}, .bias = false}); }

TEST_CASE("Cross-attention reads keys and values of another input, with its own lengths and features") {
  check_all({.queries = {3, 20, 1}, .keys = {100, 7, 65}, .source_features = 40});
}

TEST_CASE("Head and value widths are independent of each other and of the model's") {
  check_all({.heads = {3, 3, 12, 20}, .queries = {19, 66}, .features = 28});
  check_all({.heads = {2, 1, 40, 5}, .queries = {19, 66}, .features = 28});
}

TEST_CASE("MASK-06: causal attention is aligned to the end of the keys") {
  check_all({.mask = {.causal = true}, .queries = {70, 3, 65, 1}});
  check_all({.mask = {.causal = true}, .queries = {2}, .keys = {7}});
  const auto weights = Attention({.mask = {.causal = true}, .queries = {2}, .keys = {7}}).weights();
  CHECK(weights[0][0][0][5] > 0);
  CHECK(weights[0][0][0][6] == 0);
  CHECK(weights[0][0][1][6] > 0);
  check_all({.mask = {.causal = true, .top_left = true}, .queries = {6, 5}, .keys = {9, 70}});
}

TEST_CASE("Sliding windows, also such that start and end inside a tile of keys") {
  check_all({.mask = {.left = 5, .right = 5}, .queries = {150, 4}});
  check_all({.mask = {.causal = true, .left = 66}, .queries = {200}});
  check_all({.mask = {.left = 0, .right = 0}, .queries = {80}});
  check_all({.mask = {.right = 3}, .queries = {70}, .keys = {90}});
}

TEST_CASE("MASK-01: a query that sees no key gives exactly the output's bias, and weights of zero") {
  // Causal, aligned to the end: with 3 keys the first 2 of 5 queries see nothing.
  for (uint32_t precision : {HEED_PRECISION_F32, HEED_PRECISION_INT8}) {
    const Case c{.mask = {.causal = true}, .queries = {5}, .keys = {3}, .bias = false, .precision = precision};
    const Attention attention(c);
    const Output y = attention.run();
    for (uint32_t col = 0; col < y.features; ++col) {
      CHECK(y.at(0, col) == 0.0f);
      CHECK(y.at(1, col) == 0.0f);
    }
    CHECK(snr_db(attention.expected(), y) > (precision == HEED_PRECISION_F32 ? kFloatDb : kInt8Db));
  }
}

TEST_CASE("MASK-03: NaN in a key and value that are not seen does not leak") {
  for (Format format : {Format::f32, Format::q8c}) {
    for (uint32_t precision : {HEED_PRECISION_F32, HEED_PRECISION_INT8}) {
      for (const std::string& isa : runnable_isas()) {
        Attention attention({.mask = {.causal = true}, .queries = {70, 10}, .format = format, .precision = precision});
        const Output clean = attention.run(isa.c_str());
        attention.x().at(66, 3) = std::numeric_limits<float>::quiet_NaN();
        const Output y = attention.run(isa.c_str());
        for (uint32_t r = 0; r < 80; ++r) {
          for (uint32_t c = 0; c < y.features; ++c) {
            if (r < 66 || r >= 70) REQUIRE(y.at(r, c) == clean.at(r, c));
            if (r >= 66 && r < 70) REQUIRE(std::isnan(y.at(r, c)));
          }
        }
      }
    }
  }
}

TEST_CASE("GQA-01: query heads 0 and 1 read the first key head, 2 and 3 the second") {
  check_all({.heads = {4, 2, 8, 8}, .queries = {9, 70}});
}

TEST_CASE("GQA-02, GQA-04: query head h reads key head h / (heads / kv_heads)") {
  const uint32_t pairs[][2] = {{12, 12}, {32, 32}, {32, 8}, {28, 4}, {14, 2}, {8, 1}, {64, 8}, {32, 4}, {24, 8}, {6, 3}};
  for (const auto& [heads, kv_heads] : pairs) {
    INFO(heads << ", " << kv_heads);
    check_all({.heads = {heads, kv_heads, 4, 4}, .queries = {11}});
  }
}

TEST_CASE("GQA-03: groups that no tile of 16 heads fits") {
  const uint32_t pairs[][2] = {{48, 2}, {40, 2}, {80, 4}};
  for (const auto& [heads, kv_heads] : pairs) check_all({.heads = {heads, kv_heads, 4, 4}, .queries = {5}});
}

TEST_CASE("SHAPE-01: any head width, any length") {
  for (uint32_t dim : {1, 2, 3, 5, 7, 8, 9, 15, 17, 24, 31, 33, 40, 48, 63, 72, 80, 96, 100, 127, 129}) {
    for (uint32_t length : {1, 3, 17, 65}) {
      for (uint32_t precision : {HEED_PRECISION_F32, HEED_PRECISION_INT8}) {
        const Case c{.heads = {2, 2, dim, dim}, .queries = {length}, .scale = 1.0f / std::sqrt(static_cast<float>(dim)),
                     .precision = precision};
        const Attention attention(c);
        const Output ref = attention.run("ref");
        INFO("head_dim " << dim << ", length " << length << ", precision " << precision);
        CHECK(snr_db(attention.expected(), ref) > (precision == HEED_PRECISION_F32 ? kFloatDb : kInt8Db));
        for (const std::string& isa : runnable_isas()) REQUIRE(attention.run(isa.c_str()) == ref);
      }
    }
  }
}

TEST_CASE("SHAPE-04: 16 heads of 48") {
  for (uint32_t precision : {HEED_PRECISION_F32, HEED_PRECISION_INT8}) {
    const Attention attention({.heads = {16, 16, 48, 48}, .queries = {20}, .scale = 1.0f / std::sqrt(48.0f), .precision = precision});
    const Output ref = attention.run("ref");
    CHECK(snr_db(attention.expected(), ref) > (precision == HEED_PRECISION_F32 ? kFloatDb : kInt8Db));
    for (const std::string& isa : runnable_isas()) REQUIRE(attention.run(isa.c_str()) == ref);
  }
}

TEST_CASE("SHAPE-02: the upper half of a head of 128 counts") {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 128, 20);
  Plain upper{128, 128, std::vector<float>(128 * 128)};
  for (uint32_t i = 64; i < 128; ++i) upper.at(i, i) = 1;
  Plain identity{128, 128, std::vector<float>(128 * 128)};
  for (uint32_t i = 0; i < 128; ++i) identity.at(i, i) = 1;
  schema::NodeT node;
  node.query = node.key = builder.matrix(upper, Format::f32);
  node.value = node.output = builder.matrix(identity, Format::f32);
  node.heads = node.kv_heads = 1;
  node.head_dim = node.value_dim = 128;
  node.scale = 0.09f;
  builder.output("y", builder.node(schema::OpKind::Attention, {x}, node));
  const AlignedBytes file = builder.finish();
  const Plain input = random_plain(20, 128, 8);
  const Matrix rows = to_matrix(input);
  const Heads heads{1, 1, 128, 128};
  const auto weights = attention_weights(linear(rows, upper), linear(rows, upper), heads, 0.09f, {});
  CHECK(*std::max_element(weights[0][0].begin(), weights[0][0].end()) > 0.1);
  for (uint32_t precision : {HEED_PRECISION_F32, HEED_PRECISION_INT8}) {
    TestSession session(file, {.precision = precision});
    const Output y = session.run({floats_input("x", input)});
    CHECK(snr_db(pool_values(weights, rows, heads), y) > (precision == HEED_PRECISION_F32 ? kFloatDb : kInt8Db));
  }
}

TEST_CASE("The tap gives every weight once, in order, adding up to 1, and changes no result") {
  struct Tapped {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<float>> rows;
    bool in_order = true;
  };
  for (uint32_t precision : {HEED_PRECISION_F32, HEED_PRECISION_INT8}) {
    const Case c{.mask = {.causal = true}, .queries = {70, 5, 130}, .precision = precision};
    const Attention attention(c);
    TestSession session(attention.file(), attention.options());
    const Output off = session.run(attention.inputs(), 3);
    Tapped tapped;
    session.tap = [](void* context, uint32_t node, uint32_t sequence, uint32_t head, uint32_t query, uint32_t first,
                     uint32_t count, const float* weights) {
      Tapped& to = *static_cast<Tapped*>(context);
      std::vector<float>& row = to.rows[{sequence, head, query}];
      to.in_order = to.in_order && node == 0 && row.size() == first;
      row.insert(row.end(), weights, weights + count);
    };
    session.tap_context = &tapped;
    CHECK(session.run(attention.inputs(), 3) == off);
    CHECK(tapped.in_order);
    const auto expected = attention.weights();
    size_t rows = 0;
    for (uint32_t s = 0; s < 3; ++s) {
      for (uint32_t h = 0; h < 4; ++h) {
        for (uint32_t q = 0; q < c.queries[s]; ++q, ++rows) {
          const std::vector<float>& row = tapped.rows[{s, h, q}];
          REQUIRE(row.size() == c.queries[s]);
          REQUIRE(std::accumulate(row.begin(), row.end(), 0.0) == Approx(1).margin(1e-5));
          for (size_t k = 0; k < row.size(); ++k) {
            if (expected[s][h][q][k] == 0) REQUIRE(row[k] == 0);
            REQUIRE(row[k] == Approx(expected[s][h][q][k]).margin(precision == HEED_PRECISION_F32 ? 1e-5 : 0.02));
          }
        }
      }
    }
    CHECK(tapped.rows.size() == rows);
  }
}

TEST_CASE("HEAT-02: the tapped weights times the values are what the layer used") {
  const Case c{.heads = {4, 2, 8, 8}, .mask = {.causal = true, .left = 20}, .queries = {40}};
  const Attention attention(c);
  TestSession session(attention.file(), attention.options());
  std::vector<Matrix> weights(4, Matrix(40, Vector(40)));
  session.tap = [](void* context, uint32_t, uint32_t, uint32_t head, uint32_t query, uint32_t first, uint32_t count,
                   const float* row) {
    auto& all = *static_cast<std::vector<Matrix>*>(context);
    for (uint32_t k = 0; k < count; ++k) all[head][query][first + k] = row[k];
  };
  session.tap_context = &weights;
  const Output y = session.run(attention.inputs());
  const auto expected = attention.weights();
  for (uint32_t h = 0; h < 4; ++h) {
    for (uint32_t q = 0; q < 40; ++q) {
      for (uint32_t k = 0; k < 40; ++k) REQUIRE(weights[h][q][k] == Approx(expected[0][h][q][k]).margin(1e-5));
    }
  }
  CHECK(snr_db(attention.expected(), y) > kFloatDb);
}

}  // namespace heed::testing
