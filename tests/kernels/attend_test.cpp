// Softmax over key tiles, pooling and tap weights against one softmax over the whole row in double precision.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/support/matrix.h"
#include "oracle/functions.h"
#include "quant/panel.h"

namespace heed::tests {
namespace {

constexpr double kLog2E = 1.4426950408889634;

// Rows of one head over `keys` keys, as an op drives them: tile after tile, values of one feature pooled in double.
class Row {
 public:
  Row(uint32_t row_count, uint32_t key_count, uint32_t seed) : rows(row_count), keys(key_count), numbers(seed) {
    for (uint32_t i = 0; i < rows * padded_keys(keys); ++i) {
      scores_i8.push_back(numbers.integer(-20000, 20000));
      scores_f32.push_back(numbers() * 4);
      bias.push_back(numbers());
    }
    for (uint32_t j = 0; j < keys; ++j) {
      key_scale.push_back(0.01f + 0.001f * std::fabs(numbers()));
      value_scale.push_back(std::exp2(numbers() * 2));
    }
    for (uint32_t r = 0; r < rows; ++r) row_scale.push_back(0.02f + 0.004f * std::fabs(numbers()));
    begin.assign(rows, 0);
    end.assign(rows, keys);
  }

  // The logit without the value's scale.
  double logit(uint32_t r, uint32_t j, bool int8) const {
    if (j < begin[r] || j >= end[r]) return -INFINITY;
    const size_t i = r * padded_keys(keys) + j;
    double t = int8 ? double(scores_i8[i]) * key_scale[j] : double{scores_f32[i]};
    t = t * row_scale[r] * score_scale;
    return with_bias ? t + bias[i] : t;
  }
  std::vector<double> exact_weights(uint32_t r, bool int8) const {
    std::vector<double> logits;
    for (uint32_t j = 0; j < keys; ++j) logits.push_back(logit(r, j, int8));
    return oracle::softmax2(logits);
  }

  struct Result {
    std::vector<float> max, sum, pooled, weights;
    Written written;
    uint32_t keys;
    float weight(uint32_t r, uint32_t j) const { return weights[size_t{r} * keys + j]; }
  };

  // Weights of every tile through the softmax, one feature pooled (value[j] in int8 steps), divided; then the tap.
  Result run(const Kernels& table, bool int8) const {
    Result result = {std::vector<float>(rows, -kInf),
                     std::vector<float>(rows, 0.0f),
                     std::vector<float>(rows, kNan),
                     std::vector<float>(rows * keys, kNan),
                     {},
                     keys};
    const uint32_t tiles = (keys + kKeyTile - 1) / kKeyTile;
    for (uint32_t t = 0; t < tiles; ++t) {
      const Tile tile(*this, t, int8);
      Matrix decay(1, rows), factor(1, rows);
      if (int8) {
        Guarded<uint8_t> weights(rows * kKeyTile);
        std::fill_n(weights.get(), rows * kKeyTile, uint8_t{0xaa});
        table.softmax_tile_i8(
            {tile.scores, weights.get(), result.max.data(), result.sum.data(), decay.get(), factor.get()});
        std::vector<int32_t> pooled;
        for (uint32_t r = 0; r < rows; ++r) {
          int32_t sum = 0;
          for (uint32_t j = 0; j < round_up(tile.scores.keys, 16); ++j) {
            REQUIRE(weights[r * kKeyTile + j] <= 127);
            if (j >= tile.scores.keys)
              REQUIRE(weights[r * kKeyTile + j] == 0);
            else
              sum += weights[r * kKeyTile + j] * value(t * kKeyTile + j);
          }
          pooled.push_back(sum);
        }
        table.pool_tile_i8({pooled.data(), 1, rows, 1, decay.get(), factor.get(), result.pooled.data(), 1});
        result.written.add(weights.get(), rows * kKeyTile);
      } else {
        Matrix weights(rows, kKeyTile), pooled(rows, 1);
        table.softmax_tile_f32(
            {tile.scores, weights.get(), result.max.data(), result.sum.data(), decay.get(), factor.get()});
        for (uint32_t r = 0; r < rows; ++r) {
          pooled.at(r, 0) = 0;
          for (uint32_t j = 0; j < tile.scores.keys; ++j) pooled.at(r, 0) += weights.at(r, j) * value(t * kKeyTile + j);
        }
        table.pool_tile_f32({pooled.get(), 1, rows, 1, decay.get(), factor.get(), result.pooled.data(), 1});
        result.written.add(weights);
      }
      result.written.add(decay).add(factor);
    }
    for (uint32_t t = 0; t < tiles; ++t) {
      const Tile tile(*this, t, int8);
      Matrix weights(rows, kKeyTile);
      table.weigh_tile({tile.scores, result.max.data(), result.sum.data(), weights.get()});
      for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t j = 0; j < tile.scores.keys; ++j) result.weights[r * keys + t * kKeyTile + j] = weights.at(r, j);
      }
    }
    table.divide_rows({result.pooled.data(), 1, rows, 1, result.sum.data()});
    result.written.add(result.max.data(), rows)
        .add(result.sum.data(), rows)
        .add(result.pooled.data(), rows)
        .add(result.weights.data(), rows * keys);
    return result;
  }

  // A pooled value in the units the kernels leave it in; int8 steps times the value's scale.
  static int32_t value(uint32_t j) { return static_cast<int32_t>(j * 37 % 255) - 127; }
  double pooled(const std::vector<double>& weights, bool int8) const {
    double sum = 0;
    for (uint32_t j = 0; j < keys; ++j) sum += weights[j] * value(j) * (int8 ? value_scale[j] : 1.0);
    return sum;
  }
  // What a whole step of the int8 weights is worth: half of 1/127 of the greatest weight times value scale, for each
  // key.
  double pooled_error(const std::vector<double>& weights, bool int8) const {
    if (!int8) {
      double sum = 0;
      for (uint32_t j = 0; j < keys; ++j) sum += weights[j] * std::abs(value(j));
      return 1e-5 * sum + 1e-30;
    }
    double error = 0;
    for (uint32_t first = 0; first < keys; first += kKeyTile) {
      double top = 0;
      for (uint32_t j = first; j < std::min(keys, first + kKeyTile); ++j)
        top = std::max(top, weights[j] * value_scale[j]);
      for (uint32_t j = first; j < std::min(keys, first + kKeyTile); ++j)
        error += top * (0.5 / 127 + 1e-4) * std::abs(value(j));
    }
    return error + 1e-30;
  }

  uint32_t rows, keys;
  float score_scale = static_cast<float>(0.25 * kLog2E);
  bool with_bias = false;
  std::vector<int32_t> scores_i8;
  std::vector<float> scores_f32, bias, key_scale, value_scale, row_scale;
  std::vector<uint32_t> begin, end;  // of the whole row
  Numbers numbers;

 private:
  // One tile in memory of its own: [rows, 64] full of NaNs and extremes where no key is, arrays of keys with no byte
  // more.
  struct Tile {
    Tile(const Row& row, uint32_t index, bool int8)
        : scores_i8(row.rows * kKeyTile),
          scores_f32(row.rows, kKeyTile),
          bias(row.rows, kKeyTile),
          begin(row.rows),
          end(row.rows),
          first(index * kKeyTile),
          count(std::min(kKeyTile, row.keys - first)),
          columns(4, count) {
      for (uint32_t r = 0; r < row.rows; ++r) {
        for (uint32_t j = 0; j < kKeyTile; ++j) {
          const bool there = first + j < row.keys;
          const size_t i = r * padded_keys(row.keys) + first + j;
          scores_i8[r * kKeyTile + j] = there ? row.scores_i8[i] : INT32_MIN;
          if (there) scores_f32.at(r, j) = row.scores_f32[i];
          if (there) bias.at(r, j) = row.bias[i];
        }
        const auto in_tile = [&](uint32_t p) {
          return static_cast<uint8_t>(std::min(count, p > first ? p - first : 0));
        };
        begin[r] = in_tile(row.begin[r]);
        end[r] = in_tile(row.end[r]);
      }
      for (uint32_t j = 0; j < count; ++j) {
        columns.at(0, j) = row.key_scale[first + j];
        columns.at(1, j) = std::log2(row.value_scale[first + j]);
        columns.at(2, j) = 1 / row.value_scale[first + j];
      }
      scores = {row.rows,
                count,
                int8 ? scores_i8.get() : nullptr,
                int8 ? nullptr : scores_f32.get(),
                row.row_scale.data(),
                1,
                row.score_scale,
                columns.row(0),
                columns.row(1),
                columns.row(2),
                row.with_bias ? bias.get() : nullptr,
                begin.get(),
                end.get()};
    }
    Guarded<int32_t> scores_i8;
    Matrix scores_f32, bias;
    Guarded<uint8_t> begin, end;
    uint32_t first, count;
    Matrix columns;
    ScoreTile scores;
  };
};

void check_against_double(const Row& row, bool int8) {
  const Row::Result result = row.run(*find_kernels(nullptr), int8);
  for (uint32_t r = 0; r < row.rows; ++r) {
    const std::vector<double> exact = row.exact_weights(r, int8);
    double sum = 0, worst = 0;
    for (uint32_t j = 0; j < row.keys; ++j) {
      sum += result.weight(r, j);
      worst = std::max(worst, std::fabs(result.weight(r, j) - exact[j]));
      if (exact[j] == 0 && (j < row.begin[r] || j >= row.end[r])) REQUIRE(bits_of(result.weight(r, j)) == 0);
    }
    INFO("keys " << row.keys << " row " << r << " int8 " << int8 << " errs by " << worst);
    if (row.begin[r] >= row.end[r]) {
      CHECK(bits_of(result.pooled[r]) == 0);
      CHECK(sum == 0);
      continue;
    }
    CHECK(worst <= 3e-6);
    CHECK(std::fabs(sum - 1) <= 1e-5);
    CHECK(std::fabs(result.pooled[r] - row.pooled(exact, int8)) <= row.pooled_error(exact, int8));
  }
  same_bits([&](const Kernels& table) { return row.run(table, int8).written; });
}

// softmax_tile_f32 of one row of plain scores, base e, as weights.
std::vector<float> softmax_of(const Kernels& table, const std::vector<float>& scores) {
  Row row(1, static_cast<uint32_t>(scores.size()), 1);
  std::copy(scores.begin(), scores.end(), row.scores_f32.begin());
  row.row_scale[0] = 1;
  row.score_scale = static_cast<float>(kLog2E);
  const Row::Result result = row.run(table, false);
  return result.weights;
}

}  // namespace

TEST_CASE("softmax by tiles equals one softmax over the row, for every number of keys and rows") {
  for (const bool int8 : {true, false}) {
    for (uint32_t keys = 1; keys <= 66; ++keys) check_against_double(Row(keys % 3 + 1, keys, keys), int8);
    for (const uint32_t keys : {127u, 128u, 130u, 192u, 500u}) check_against_double(Row(3, keys, keys), int8);
    for (uint32_t rows = 1; rows <= 16; ++rows) check_against_double(Row(rows, 70, rows), int8);
  }
}

TEST_CASE("keys outside begin to end are not computed with, in whole and partial tiles") {
  for (const bool int8 : {true, false}) {
    for (const uint32_t keys : {1u, 15u, 33u, 64u, 100u, 128u}) {
      Row row(16, keys, keys);
      for (uint32_t r = 0; r < row.rows; ++r) {
        row.begin[r] = static_cast<uint32_t>(row.numbers.integer(0, static_cast<int32_t>(keys)));
        row.end[r] =
            static_cast<uint32_t>(row.numbers.integer(static_cast<int32_t>(row.begin[r]), static_cast<int32_t>(keys)));
        for (uint32_t j = 0; j < keys; ++j) {
          if (j < row.begin[r] || j >= row.end[r]) row.scores_f32[r * padded_keys(keys) + j] = kNan;
        }
      }
      check_against_double(row, int8);
      row.with_bias = true;
      check_against_double(row, int8);
    }
  }
}

TEST_CASE("a bias shifts logits, and one of -infinity hides a key even if its score is a NaN") {
  for (const bool int8 : {true, false}) {
    for (const uint32_t keys : {5u, 64u, 90u}) {
      Row row(4, keys, keys);
      row.with_bias = true;
      check_against_double(row, int8);
      for (size_t i = 0; i < row.bias.size(); i += 3) {
        row.bias[i] = -kInf;
        row.scores_f32[i] = kNan;
      }
      const Row::Result result = row.run(*find_kernels(nullptr), int8);
      for (uint32_t r = 0; r < row.rows; ++r) {
        double sum = 0;
        for (uint32_t j = 0; j < keys; ++j) {
          if ((r * padded_keys(keys) + j) % 3 == 0) CHECK(bits_of(result.weight(r, j)) == 0);
          sum += result.weight(r, j);
        }
        CHECK(std::fabs(sum - 1) <= 1e-5);
      }
      same_bits([&](const Kernels& table) { return row.run(table, int8).written; });
    }
  }
}

TEST_CASE("what a hidden key's scales hold does not matter, a NaN neither") {
  Row row(2, 64, 5);
  row.end = {40, 40};
  const Row::Result before = row.run(*find_kernels(nullptr), true);
  for (uint32_t j = 40; j < 64; ++j) row.key_scale[j] = row.value_scale[j] = kNan;
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    const Row::Result after = row.run(*table, true);
    for (uint32_t r = 0; r < 2; ++r) {
      CHECK(after.pooled[r] == before.pooled[r]);
      CHECK(after.sum[r] == before.sum[r]);
      for (uint32_t j = 40; j < 64; ++j) CHECK(bits_of(after.weight(r, j)) == 0);
    }
  }
}

TEST_CASE("a NaN or +infinity among visible scores makes the row a NaN, never a plausible distribution (MASK-07)") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    for (const float bad : {kNan, kInf}) {
      for (const uint32_t place : {0u, 15u, 16u, 63u}) {
        Row row(2, 64, 3);
        row.scores_f32[place] = bad;
        const Row::Result result = row.run(*table, false);
        CHECK(std::isnan(result.pooled[0]));
        CHECK(std::isnan(result.weight(0, 1)));
        CHECK(std::isfinite(result.pooled[1]));
        // int8: a key whose row was not finite has scale NaN.
        Row quantized(2, 64, 3);
        quantized.key_scale[place] = kNan;
        CHECK(std::isnan(quantized.run(*table, true).pooled[0]));
      }
    }
    // Even if every visible score is one.
    Row row(1, 70, 3);
    std::fill(row.scores_f32.begin(), row.scores_f32.end(), kNan);
    CHECK(std::isnan(row.run(*table, false).pooled[0]));
  }
}

TEST_CASE("softmax subtracts the maximum (MASK-08)") {
  const double expected[] = {0.7310586, 0.2689414, 0};
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    for (const std::vector<float>& scores :
         {std::vector<float>{1000, 999, 0}, std::vector<float>{-1000, -1001, -2000}}) {
      const std::vector<float> tiled = softmax_of(*table, scores);
      float whole[3];
      table->softmax_rows({scores.data(), 3, 1, 3, whole, 3});
      for (int i = 0; i < 3; ++i) {
        CHECK(tiled[i] == Approx(expected[i]).margin(1e-4));  // the product with log2 e is rounded at 1443
        CHECK(whole[i] == Approx(expected[i]).margin(1e-6));
      }
    }
  }
}

TEST_CASE("the most negative f16 as a mask on every key does not overflow: scores are f32 (MASK-02)") {
  for (const bool int8 : {true, false}) {
    for (const Kernels* table : runnable_tables()) {
      INFO(table->isa << " int8 " << int8);
      Row row(1, 20, 3);
      row.with_bias = true;
      for (uint32_t j = 0; j < row.keys; ++j) {
        row.scores_f32[j] = -100.0f / row.row_scale[0] - static_cast<float>(j);
        row.bias[j] = -65504.0f * static_cast<float>(kLog2E);
      }
      const Row::Result result = row.run(*table, int8);
      const std::vector<double> exact = row.exact_weights(0, int8);
      double sum = 0;
      for (uint32_t j = 0; j < row.keys; ++j) {
        CHECK(result.weight(0, j) == Approx(exact[j]).margin(0.01));  // a step of f32 at 94,500 is 2^-7
        sum += result.weight(0, j);
      }
      CHECK(sum == Approx(1).margin(1e-5));
    }
  }
}

TEST_CASE("a tile that is masked whole changes nothing, first, last or in the middle (MASK-10)") {
  for (const bool int8 : {true, false}) {
    for (const Kernels* table : runnable_tables()) {
      INFO(table->isa << " int8 " << int8);
      // [begin, end) of 192 keys: the first, the last, the first and the last tile are masked.
      const uint32_t ranges[][2] = {{64, 192}, {0, 128}, {64, 128}};
      for (const auto& range : ranges) {
        Row row(1, 192, 9);
        row.begin = {range[0]};
        row.end = {range[1]};
        const Row::Result result = row.run(*table, int8);
        const std::vector<double> exact = row.exact_weights(0, int8);
        for (uint32_t j = 0; j < 192; ++j) CHECK(result.weight(0, j) == Approx(exact[j]).margin(1e-6));
        CHECK(std::fabs(result.pooled[0] - row.pooled(exact, int8)) <= row.pooled_error(exact, int8));
      }
      // The middle one, by a bias.
      Row row(1, 192, 9);
      row.with_bias = true;
      for (uint32_t j = 64; j < 128; ++j) row.bias[j] = -kInf;
      const Row::Result result = row.run(*table, int8);
      const std::vector<double> exact = row.exact_weights(0, int8);
      for (uint32_t j = 0; j < 192; ++j) CHECK(result.weight(0, j) == Approx(exact[j]).margin(1e-6));
    }
  }
}

TEST_CASE("each row of a tile is as if it were alone (MASK-12)") {
  const std::vector<std::vector<float>> scores = {{10, 0, -10}, {-100, -90, -80}, {127, 127, 127}};
  for (const bool int8 : {true, false}) {
    for (const Kernels* table : runnable_tables()) {
      INFO(table->isa << " int8 " << int8);
      Row together(3, 3, 4);
      for (uint32_t r = 0; r < 3; ++r) {
        for (uint32_t j = 0; j < 3; ++j) {
          together.scores_f32[r * 16 + j] = scores[r][j];
          together.scores_i8[r * 16 + j] = static_cast<int32_t>(scores[r][j]) * 100;
        }
      }
      const Row::Result all = together.run(*table, int8);
      for (uint32_t r = 0; r < 3; ++r) {
        Row alone = together;
        alone.rows = 1;
        alone.row_scale = {together.row_scale[r]};
        std::copy_n(together.scores_f32.begin() + r * 16, 16, alone.scores_f32.begin());
        std::copy_n(together.scores_i8.begin() + r * 16, 16, alone.scores_i8.begin());
        const Row::Result one = alone.run(*table, int8);
        CHECK(bits_of(one.pooled[0]) == bits_of(all.pooled[r]));
        for (uint32_t j = 0; j < 3; ++j) CHECK(bits_of(one.weight(0, j)) == bits_of(all.weight(r, j)));
      }
    }
  }
}

TEST_CASE("pooling starts afresh where decay is 0, whatever the memory held, and a sum of 0 gives exact zeros") {
  for (const Kernels* table : runnable_tables()) {
    for (uint32_t cols = 1; cols <= 40; ++cols) {
      INFO(table->isa << " cols " << cols);
      std::vector<int32_t> pooled(2 * cols, 127);
      const float decay[] = {0, 0.5f}, factor[] = {0.5f, 1}, divisor[] = {0, 2};
      Matrix acc(2, cols, 3);
      for (uint32_t c = 0; c < cols; ++c) acc.at(1, c) = 8;
      table->pool_tile_i8({pooled.data(), cols, 2, cols, decay, factor, acc.get(), acc.stride()});
      REQUIRE(acc.at(0, cols - 1) == 63.5f);
      REQUIRE(acc.at(1, cols - 1) == 131.0f);
      acc.at(0, 0) = kNan;
      table->divide_rows({acc.get(), acc.stride(), 2, cols, divisor});
      REQUIRE(bits_of(acc.at(0, 0)) == 0);
      REQUIRE(acc.at(1, 0) == 65.5f);
      REQUIRE(acc.gaps_intact());
    }
  }
}

}  // namespace heed::tests
