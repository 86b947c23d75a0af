// T5's relative position buckets against their formula in double precision, alone and behind kept keys.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "ops/oracle.h"

namespace heed::testing {
namespace {

using schema::Format;
using schema::OpKind;

struct Case {
  uint32_t buckets = 32;
  uint32_t most = 128;
  bool two_sided = true;
  bool causal = false;
  uint32_t rows = 200;
  Format format = Format::f32;
};

constexpr Heads kHeads{3, 3, 8, 8};
constexpr uint32_t kFeatures = 24;

// The bucket of a distance, as the T5 paper's code has it.
uint32_t bucket_of(const Case& c, long key, long query) {
  const uint32_t side = c.two_sided ? c.buckets / 2 : c.buckets;
  const uint32_t base = c.two_sided && key > query ? side : 0;
  const double far = c.two_sided ? std::abs(key - query) : std::max(0l, query - key);
  const double exact = side / 2;
  if (far < exact) return base + static_cast<uint32_t>(far);
  const double share = std::log(far / exact) / std::log(c.most / exact) * (side - exact);
  return base + std::min(side - 1, static_cast<uint32_t>(exact + std::floor(share + 1e-9)));
}

schema::NodeT node_of(ModelBuilder& builder, const Case& c) {
  schema::NodeT node;
  node.heads = node.kv_heads = kHeads.heads;
  node.head_dim = node.value_dim = kHeads.head_dim;
  node.scale = 0.5f;
  node.causal = c.causal;
  node.position_kind = schema::PositionKind::t5;
  node.position_weight = builder.table(random_plain(c.buckets, kHeads.heads, 7, 2.0f), c.format);
  node.position_two_sided = c.two_sided;
  node.position_max_distance = c.most;
  return node;
}

// weights[head][query][key]
std::vector<Matrix> expected_weights(const Case& c, const Matrix& rows, const Plain& table) {
  std::vector<Matrix> weights(kHeads.heads, Matrix(rows.size(), Vector(rows.size())));
  for (uint32_t h = 0; h < kHeads.heads; ++h) {
    for (size_t i = 0; i < rows.size(); ++i) {
      Vector& row = weights[h][i];
      const size_t seen = c.causal ? i + 1 : rows.size();
      double most = -1e300;
      for (size_t j = 0; j < seen; ++j) {
        for (uint32_t d = 0; d < 8; ++d) row[j] += 0.5 * rows[i][h * 8 + d] * rows[j][h * 8 + d];
        row[j] += table.at(bucket_of(c, static_cast<long>(j), static_cast<long>(i)), h);
        most = std::max(most, row[j]);
      }
      double sum = 0;
      for (size_t j = 0; j < seen; ++j) sum += row[j] = std::exp(row[j] - most);
      for (size_t j = 0; j < seen; ++j) row[j] /= sum;
    }
  }
  return weights;
}

Matrix expected(const Case& c, const Plain& x, const Plain& table) {
  const Matrix rows = to_matrix(x);
  return pool_values(expected_weights(c, rows, table), rows, kHeads);
}

}  // namespace

TEST_CASE("T5 buckets of one and of two sides, near and far, in f32 and int8") {
  for (const Case& c : {Case{}, Case{.two_sided = false, .causal = true}, Case{.two_sided = false}, Case{.causal = true},
                        Case{.buckets = 8, .most = 20, .rows = 129}, Case{.buckets = 2, .most = 3, .two_sided = false, .rows = 17},
                        Case{.buckets = 12, .most = 100, .format = Format::f16}, Case{.rows = 1}, Case{.buckets = 128, .most = 300}}) {
    ModelBuilder builder;
    const schema::NodeT node = node_of(builder, c);
    builder.output("y", builder.node(OpKind::Attention, {builder.floats("x", kFeatures, 200)}, node));
    const AlignedBytes file = builder.finish();
    const Plain x = random_plain(c.rows, kFeatures, 3);
    const Matrix wanted = expected(c, x, builder.stored[0]);
    for (uint32_t precision : {HEED_PRECISION_F32, HEED_PRECISION_INT8}) {
      Output ref;
      for (const std::string& isa : runnable_isas()) {
        for (uint32_t workers : {1, 3}) {
          TestSession session(file, {.workers = workers, .tile_rows = 8, .precision = precision, .isa = isa.c_str()});
          const Output y = session.run({floats_input("x", x)});
          if (ref.rows == 0) ref = y;
          REQUIRE(y == ref);
        }
      }
      INFO("buckets " << c.buckets << ", precision " << precision);
      CHECK(snr_db(wanted, ref) > (precision == HEED_PRECISION_F32 ? 110 : 30));
    }
  }
}

TEST_CASE("HEAT-02, HEAT-03: weights with a position's addend are those that the output was pooled with, and looking changes nothing") {
  for (const Case& c : {Case{.rows = 70}, Case{.two_sided = false, .causal = true, .rows = 70}}) {
    ModelBuilder builder;
    const schema::NodeT node = node_of(builder, c);
    builder.output("y", builder.node(OpKind::Attention, {builder.floats("x", kFeatures, 200)}, node));
    const AlignedBytes file = builder.finish();
    const Plain x = random_plain(c.rows, kFeatures, 3);
    TestSession session(file, {.tile_rows = 8});
    const Output unseen = session.run({floats_input("x", x)});
    std::vector<Matrix> weights(kHeads.heads, Matrix(c.rows, Vector(c.rows)));
    session.tap = [](void* context, uint32_t, uint32_t, uint32_t head, uint32_t query, uint32_t first, uint32_t count, const float* row) {
      auto& all = *static_cast<std::vector<Matrix>*>(context);
      for (uint32_t k = 0; k < count; ++k) all[head][query][first + k] = static_cast<double>(row[k]);
    };
    session.tap_context = &weights;
    CHECK(session.run({floats_input("x", x)}) == unseen);
    const std::vector<Matrix> wanted = expected_weights(c, to_matrix(x), builder.stored[0]);
    for (uint32_t h = 0; h < kHeads.heads; ++h) {
      for (uint32_t q = 0; q < c.rows; ++q) {
        double sum = 0;
        for (uint32_t k = 0; k < c.rows; ++k) {
          sum += weights[h][q][k];
          REQUIRE(weights[h][q][k] == Approx(wanted[h][q][k]).margin(1e-5));
        }
        REQUIRE(sum == Approx(1).margin(1e-5));
      }
    }
    CHECK(snr_db(pool_values(weights, to_matrix(x), kHeads), unseen) > 100);
  }
}

TEST_CASE("T5 buckets behind kept keys count from the start of the text") {
  const Case c{.two_sided = false, .causal = true, .rows = 133};
  const Plain x = random_plain(c.rows, kFeatures, 3);
  std::vector<float> whole;
  for (bool keeps : {false, true}) {
    ModelBuilder builder;
    schema::NodeT node = node_of(builder, c);
    schema::StateT state;
    state.kind = schema::StateKind::kv_append;
    state.heads = 3;
    state.features = state.value_features = 8;
    if (keeps) node.state = builder.state(state);
    builder.output("y", builder.node(OpKind::Attention, {builder.floats("x", kFeatures, 200)}, node));
    const AlignedBytes file = builder.finish();
    TestSession session(file, {.context = keeps ? 140u : 0u});
    std::vector<float> all;
    for (uint32_t at = 0, count = 0; at < c.rows; at += count) {
      count = keeps ? std::min(c.rows - at, 1 + at) : c.rows;
      const Plain part{count, kFeatures, {x.values.begin() + at * kFeatures, x.values.begin() + (at + count) * kFeatures}};
      const Output y = session.run({floats_input("x", part)});
      all.insert(all.end(), y.values.begin(), y.values.end());
    }
    if (!keeps) whole = all;
    CHECK(all == whole);
  }
}

TEST_CASE("Position attributes that do not fit are refused by name") {
  const auto refused = [](const auto& change) {
    ModelBuilder builder;
    schema::NodeT node = node_of(builder, {});
    change(builder, node);
    builder.output("y", builder.node(OpKind::Attention, {builder.floats("x", kFeatures, 9)}, node));
    const AlignedBytes file = builder.finish();
    heed_model model;
    heed_diagnostic diagnostic{};
    heed_open(file.data(), file.size(), 0, &model, &diagnostic);
    return std::string(diagnostic.what ? diagnostic.what : "");
  };
  CHECK(refused([](auto&, auto&) {}).empty());
  CHECK(refused([](auto&, auto& n) { n.position_kind = schema::PositionKind::none; }) == "position attributes without position_kind");
  CHECK(refused([](auto&, auto& n) { n.position_kind = schema::PositionKind::rope_half; }) == "position_kind");
  CHECK(refused([](auto&, auto& n) { n.position_weight = -1; }) == "position_weight");
  CHECK(refused([](auto& b, auto& n) { n.position_weight = b.table(random_plain(32, 4, 1), Format::f32); }) == "position_weight");
  CHECK(refused([](auto& b, auto& n) { n.position_weight = b.table(random_plain(32, 3, 1), Format::q8c); }) == "position_weight");
  CHECK(refused([](auto& b, auto& n) { n.position_weight = b.table(random_plain(33, 3, 1), Format::f32); }) ==
        "buckets of position_weight");
  CHECK(refused([](auto& b, auto& n) { n.position_weight = b.table(random_plain(130, 3, 1), Format::f32); }) ==
        "buckets of position_weight");
  CHECK(refused([](auto&, auto& n) { n.position_max_distance = 8; }) == "position_max_distance");
}

}  // namespace heed::testing
