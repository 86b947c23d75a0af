// Beam search on logits made by hand: ties, exhaustive comparison, logarithms, memory.
// SPDX-License-Identifier: Apache-2.0
#include "generate/search.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "generate/power.h"
#include "support/model_builder.h"

namespace heed::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

heed_generate_options options_of(uint32_t beams, uint32_t max_tokens) {
  return {sizeof(heed_generate_options), beams, max_tokens, 0, 0.0f, 0, HEED_NO_TOKEN, HEED_NO_TOKEN, HEED_NO_TOKEN, 0};
}

struct Found {
  std::vector<uint32_t> tokens;
  std::vector<float> log_probabilities;
  float score;
  bool stopped;
};

// Searches where the logits of what follows depend on the last token alone: table [words, words].
Found search_table(const Plain& table, const heed_generate_options& options, uint8_t fill = 0) {
  AlignedBytes block(BeamSearch(options, nullptr).bytes(), fill);
  BeamSearch search(options, block.data());
  for (search.start(); search.going();) {
    std::vector<float> logits;
    for (uint32_t beam = 0; beam < search.live(); ++beam) {
      for (uint32_t c = 0; c < table.cols; ++c) logits.push_back(table.at(static_cast<uint32_t>(search.last_tokens()[beam]), c));
    }
    REQUIRE(search.step({*find_kernels(nullptr), logits.data(), search.live(), table.cols, table.cols}));
  }
  heed_generated output;
  search.finish(&output);
  return {{output.tokens, output.tokens + output.count},
          {output.log_probabilities, output.log_probabilities + output.count}, output.score, output.stopped != 0};
}

double log_probability(const Plain& table, uint32_t from, uint32_t to) {
  double sum = 0;
  for (uint32_t c = 0; c < table.cols; ++c) sum += std::exp(double{table.at(from, c)});
  return double{table.at(from, to)} - std::log(sum);
}

// The best of all outputs that there are.
struct Exhaustive {
  const Plain& table;
  const heed_generate_options& options;
  std::vector<uint32_t> best;
  double best_score = -1e30;

  void walk(std::vector<uint32_t>& tokens, double sum) {
    const uint32_t last = tokens.empty() ? options.start_token : tokens.back();
    const bool stopped = !tokens.empty() && last == options.stop_token;
    if (stopped || tokens.size() == options.max_tokens) {
      const double score = sum / std::pow(static_cast<double>(tokens.size()), double{options.length_penalty});
      if (score > best_score) best = tokens, best_score = score;
      return;
    }
    for (uint32_t word = 0; word < table.cols; ++word) {
      tokens.push_back(word);
      walk(tokens, sum + log_probability(table, last, word));
      tokens.pop_back();
    }
  }
};

}  // namespace

TEST_CASE("With room for every hypothesis the best output of all is found") {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Plain table = random_plain(4, 4, seed, 2.0f);
    heed_generate_options options = options_of(256, 4);
    options.stop_token = 3;
    Exhaustive exhaustive{table, options, {}};
    std::vector<uint32_t> tokens;
    exhaustive.walk(tokens, 0);
    Found found = search_table(table, options);
    if (found.stopped) found.tokens.push_back(3);
    INFO("seed " << seed);
    CHECK(found.tokens == exhaustive.best);
    CHECK(found.score == Approx(exhaustive.best_score).margin(1e-5));
  }
}

TEST_CASE("One beam takes the likeliest token each time") {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Plain table = random_plain(9, 9, seed, 1.5f);
    const Found found = search_table(table, options_of(1, 20));
    uint32_t last = 0;
    REQUIRE(found.tokens.size() == 20);
    for (size_t i = 0; i < 20; ++i) {
      uint32_t best = 0;
      for (uint32_t c = 1; c < 9; ++c) best = table.at(last, c) > table.at(last, best) ? c : best;
      CHECK(found.tokens[i] == best);
      CHECK(found.log_probabilities[i] == Approx(log_probability(table, last, best)).margin(1e-6));
      last = best;
    }
  }
}

TEST_CASE("One beam ends with the first token that stops, however early the search may stop") {
  const Plain table{3, 3, {0, 1, 2, -20, 20, 0, 0, 0, 0}};  // 2 stops, and is likeliest; what begins with 1 would have more on average
  heed_generate_options options = options_of(1, 10);
  options.stop_token = 2;
  options.length_penalty = 1.0f;
  for (const uint32_t early : {HEED_EARLY_STOPPING_OFF, HEED_EARLY_STOPPING_ON, HEED_EARLY_STOPPING_NEVER}) {
    options.early_stopping = early;
    const Found found = search_table(table, options);
    CHECK(found.tokens.empty());
    CHECK(found.stopped);
    CHECK(found.score == Approx(log_probability(table, 0, 2)).margin(1e-6));
  }
  options.beams = 2;
  CHECK(search_table(table, options).tokens == std::vector<uint32_t>(10, 1));
}

TEST_CASE("An output of one token has the forced last one, not the forced first") {
  heed_generate_options options = options_of(2, 1);
  options.stop_token = options.forced_last = 2;
  options.forced_first = 1;
  const Found found = search_table(random_plain(3, 3, 0, 1.0f), options);
  CHECK(found.tokens.empty());
  CHECK(found.stopped);
  options.forced_last = HEED_NO_TOKEN;
  CHECK(search_table(random_plain(3, 3, 0, 1.0f), options).tokens == std::vector<uint32_t>{1});
}

TEST_CASE("Of equals the lower id and the earlier hypothesis come first") {
  Plain equal{5, 5, std::vector<float>(25, 0.25f)};
  for (const uint32_t beams : {1u, 2u, 3u, 4u}) CHECK(search_table(equal, options_of(beams, 3)).tokens == std::vector<uint32_t>{0, 0, 0});
  for (uint32_t row = 0; row < 5; ++row) equal.at(row, 0) = -1;  // then 1 is the first of four
  for (const uint32_t beams : {1u, 2u, 4u}) CHECK(search_table(equal, options_of(beams, 3)).tokens == std::vector<uint32_t>{1, 1, 1});
  // Two hypotheses of one score: what begins with 1 stays before what begins with 2.
  Plain two{3, 3, {-50, 1, 1, -50, 2, 3, -50, 3, 2}};
  CHECK(search_table(two, options_of(2, 2)).tokens == std::vector<uint32_t>{1, 2});
}

TEST_CASE("What the block held before changes nothing") {
  const Plain table = random_plain(30, 30, 3, 2.0f);
  heed_generate_options options = options_of(4, 25);
  options.stop_token = 7;
  options.no_repeat = 2;
  options.length_penalty = 0.7f;
  const Found zero = search_table(table, options, 0);
  const Found ones = search_table(table, options, 0xff);
  CHECK(zero.tokens == ones.tokens);
  CHECK(zero.log_probabilities == ones.log_probabilities);
  CHECK(zero.score == ones.score);
}

TEST_CASE("Where everything is banned the output ends") {
  heed_generate_options options = options_of(2, 10);
  options.no_repeat = 1;  // three words, each once, the start token being one of them
  const Found found = search_table({3, 3, {0, 1, 2, 0, 1, 2, 0, 1, 2}}, options);
  CHECK(found.tokens == std::vector<uint32_t>{2, 1});
  CHECK_FALSE(found.stopped);
}

TEST_CASE("Logits that are not numbers end the search") {
  for (const float wrong : {std::nanf(""), kInfinity}) {
    const heed_generate_options options = options_of(2, 4);
    AlignedBytes block(BeamSearch(options, nullptr).bytes());
    BeamSearch search(options, block.data());
    search.start();
    std::vector<float> logits = {0, 1, 2, 3};
    logits[2] = wrong;
    CHECK_FALSE(search.step({*find_kernels(nullptr), logits.data(), 1, 4, 4}));
    logits[2] = -kInfinity;  // impossible, which a mask may say
    CHECK(search.step({*find_kernels(nullptr), logits.data(), 1, 4, 4}));
  }
}

TEST_CASE("Powers of lengths follow their formula") {
  for (const float exponent : {0.0f, 1.0f, 0.6f, -1.0f, 2.0f, 4.0f, -4.0f}) {
    for (const uint32_t count : {1u, 2u, 3u, 7u, 64u, 1000u, 1048576u}) {
      CHECK(double{power(count, exponent)} == Approx(std::pow(static_cast<double>(count), double{exponent})).epsilon(1e-5));
    }
  }
  CHECK(power(7, 1.0f) == 7.0f);
  CHECK(power(7, 0.0f) == 1.0f);
}

}  // namespace heed::testing
