// How near int8 attention is to attention in double precision, on inputs that are hard for it; prints the grid.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "support/model_builder.h"
#include "support/test_session.h"

namespace heed::testing {
namespace {

constexpr uint32_t kDim = 64;
constexpr uint32_t kQueries = 64;
constexpr uint32_t kLengths[] = {128, 512, 2048, 8192};
constexpr double kLeastSqnr = 30;  // dB
constexpr double kMostSumError = 1e-5;
const float kScale = 1 / std::sqrt(static_cast<float>(kDim));

// Queries [kQueries, kDim]; keys and values side by side, [keys, 2 * kDim].
struct Inputs {
  Plain queries;
  Plain source;
};

Plain normal(uint32_t rows, uint32_t cols, std::mt19937& generator) {
  std::normal_distribution<float> distribution;
  Plain plain{rows, cols, std::vector<float>(size_t{rows} * cols)};
  for (float& x : plain.values) x = distribution(generator);
  return plain;
}

// Along one random direction all queries and `count` keys get so much that their scores rise by `height`.
void raise_keys(Inputs& inputs, uint32_t count, float height, std::mt19937& generator) {
  Plain direction = normal(1, kDim, generator);
  float length = 0;
  for (const float x : direction.values) length += x * x;
  for (float& x : direction.values) x /= std::sqrt(length);
  const float share = std::sqrt(height / kScale);
  const auto push = [&](Plain& rows, uint32_t row) {
    for (uint32_t d = 0; d < kDim; ++d) rows.at(row, d) += share * direction.values[d];
  };
  for (uint32_t i = 0; i < kQueries; ++i) push(inputs.queries, i);
  for (uint32_t i = 0; i < count; ++i) push(inputs.source, generator() % inputs.source.rows);
}

// Norms of the values from 1 to 100, evenly in their logarithms.
void spread_values(Inputs& inputs, std::mt19937& generator) {
  std::uniform_real_distribution<float> exponent(0, 2);
  for (uint32_t key = 0; key < inputs.source.rows; ++key) {
    float* value = &inputs.source.at(key, kDim);
    float length = 0;
    for (uint32_t d = 0; d < kDim; ++d) length += value[d] * value[d];
    const float factor = std::pow(10.0f, exponent(generator)) / std::sqrt(length);
    for (uint32_t d = 0; d < kDim; ++d) value[d] *= factor;
  }
}

struct Kind {
  const char* name;
  std::function<void(Inputs&, std::mt19937&)> change;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"unit normal", [](Inputs&, std::mt19937&) {}},
      {"one key 3 above", [](Inputs& in, std::mt19937& generator) { raise_keys(in, 1, 3, generator); }},
      {"one key 4 above", [](Inputs& in, std::mt19937& generator) { raise_keys(in, 1, 4, generator); }},
      {"one key 6 above", [](Inputs& in, std::mt19937& generator) { raise_keys(in, 1, 6, generator); }},
      {"four keys 3 above", [](Inputs& in, std::mt19937& generator) { raise_keys(in, 4, 3, generator); }},
      {"four keys 4 above", [](Inputs& in, std::mt19937& generator) { raise_keys(in, 4, 4, generator); }},
      {"four keys 6 above", [](Inputs& in, std::mt19937& generator) { raise_keys(in, 4, 6, generator); }},
      {"value norms 1:100", spread_values},
  };
  return all;
}

// [kDim, cols] that picks the features from `first` on.
Plain pick(uint32_t cols, uint32_t first) {
  Plain plain{kDim, cols, std::vector<float>(size_t{kDim} * cols)};
  for (uint32_t d = 0; d < kDim; ++d) plain.at(d, first + d) = 1;
  return plain;
}

// Attention and nothing else: the projections copy.
AlignedBytes bare_attention() {
  ModelBuilder builder;
  const uint16_t queries = builder.floats("queries", kDim, kQueries, 0);
  const uint16_t source = builder.floats("source", 2 * kDim, kLengths[3], 1);
  schema::NodeT node;
  node.query = builder.matrix(pick(kDim, 0), schema::Format::f32);
  node.key = builder.matrix(pick(2 * kDim, 0), schema::Format::f32);
  node.value = builder.matrix(pick(2 * kDim, kDim), schema::Format::f32);
  node.output = builder.matrix(pick(kDim, 0), schema::Format::f32);
  node.heads = node.kv_heads = 1;
  node.head_dim = node.value_dim = kDim;
  node.scale = kScale;
  builder.output("pooled", builder.node(schema::OpKind::Attention, {queries, source}, node));
  return builder.finish();
}

// softmax(scale * q . k) v of one query, from the formula.
std::vector<double> pooled(const Inputs& inputs, uint32_t query) {
  std::vector<double> weights(inputs.source.rows);
  double most = -INFINITY;
  for (uint32_t key = 0; key < inputs.source.rows; ++key) {
    double score = 0;
    for (uint32_t d = 0; d < kDim; ++d) score += double{inputs.queries.at(query, d)} * inputs.source.at(key, d);
    weights[key] = score * kScale;
    most = std::max(most, weights[key]);
  }
  double sum = 0;
  std::vector<double> out(kDim);
  for (uint32_t key = 0; key < inputs.source.rows; ++key) {
    const double weight = std::exp(weights[key] - most);
    sum += weight;
    for (uint32_t d = 0; d < kDim; ++d) out[d] += weight * inputs.source.at(key, kDim + d);
  }
  for (double& x : out) x /= sum;
  return out;
}

double sqnr(const Inputs& inputs, const Output& found) {
  double signal = 0;
  double noise = 0;
  for (uint32_t query = 0; query < kQueries; ++query) {
    const std::vector<double> wanted = pooled(inputs, query);
    for (uint32_t d = 0; d < kDim; ++d) {
      signal += wanted[d] * wanted[d];
      noise += (found.at(query, d) - wanted[d]) * (found.at(query, d) - wanted[d]);
    }
  }
  return 10 * std::log10(signal / noise);
}

// Sums of the weights that a tap was given, for each query.
void add_weights(void* context, uint32_t, uint32_t, uint32_t, uint32_t query, uint32_t, uint32_t count,
                 const float* weights) {
  double& sum = (*static_cast<std::vector<double>*>(context))[query];
  for (uint32_t i = 0; i < count; ++i) sum += weights[i];
}

}  // namespace

TEST_CASE("attention-accuracy: int8 attention is within 30 dB of double precision, the tap's weights add up to 1") {
  const AlignedBytes file = bare_attention();
  Options options;
  options.rows = kLengths[3];
  options.precision = HEED_PRECISION_INT8;
  TestSession session(file, options);
  std::vector<double> sums;
  session.tap = add_weights;
  session.tap_context = &sums;
  double worst_sum = 0;
  std::printf("%-20s", "SQNR in dB, keys:");
  for (const uint32_t keys : kLengths) std::printf("%8u", keys);
  std::printf("\n");
  std::mt19937 generator(1);
  for (const Kind& kind : kinds()) {
    std::printf("%-20s", kind.name);
    for (const uint32_t keys : kLengths) {
      Inputs inputs{normal(kQueries, kDim, generator), normal(keys, 2 * kDim, generator)};
      kind.change(inputs, generator);
      sums.assign(kQueries, 0);
      const Output found = session.run({floats_input("queries", inputs.queries), floats_input("source", inputs.source)});
      const double decibels = sqnr(inputs, found);
      std::printf("%8.1f", decibels);
      INFO(kind.name << ", " << keys << " keys");
      CHECK(decibels >= kLeastSqnr);
      for (const double sum : sums) {
        CHECK(std::abs(sum - 1) <= kMostSumError);
        worst_sum = std::max(worst_sum, std::abs(sum - 1));
      }
    }
    std::printf("\n");
  }
  std::printf("the tap's weights add up to 1 within %.1e\n", worst_sum);
}

}  // namespace heed::testing
