// Additive scores: the formula in double precision, special values, the same bits on every instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/support/matrix.h"
#include "kernels/support/require_at.h"

namespace heed::tests {
namespace {

struct Case {
  uint32_t rows;
  uint32_t panels;
  uint32_t cols;
};
constexpr Case kCases[] = {{1, 1, 1}, {1, 4, 3}, {3, 2, 16}, {16, 4, 17}, {5, 1, 64}, {2, 3, 129}};

// Queries, v and packed keys; `size` 0: every kind of float.
struct Scores {
  Matrix a, v, keys, out;
  Scores(const Case& c, float size)
      : a(c.rows, c.cols, 3), v(1, c.cols), keys(c.panels * c.cols, 16), out(c.rows, c.panels * 16, 16) {
    Numbers numbers(c.cols + c.rows, size > 0 ? size : 1.0f);
    for (Matrix* m : {&a, &v, &keys}) m->fill([&] { return size > 0 ? numbers() : numbers.any(); });
  }
  void run(const Kernels& table, const Case& c) const {
    table.score_additive({a.get(), a.stride(), c.rows, v.get(), keys.get(), c.panels, c.cols, out.get(),
                          static_cast<uint32_t>(out.stride())});
  }
};

}  // namespace

TEST_CASE("additive scores are v . tanh(q + k)") {
  for (const Case& c : kCases) {
    for (const float size : {0.1f, 1.0f, 20.0f}) {
      const Scores scores(c, size);
      scores.run(*find_kernels(nullptr), c);
      for (uint32_t r = 0; r < c.rows; ++r) {
        for (uint32_t j = 0; j < c.panels * 16; ++j) {
          double sum = 0, all = 0;
          for (uint32_t k = 0; k < c.cols; ++k) {
            const double x = double{scores.a.at(r, k)} + scores.keys.at(j / 16 * c.cols + k, j % 16);
            sum += scores.v.at(0, k) * std::tanh(x);
            all += std::fabs(scores.v.at(0, k));
          }
          REQUIRE_AT(std::fabs(scores.out.at(r, j) - sum) <= 1e-6 * all, "cols " << c.cols << " size " << size);
        }
      }
      REQUIRE(scores.out.gaps_intact());
    }
  }
}

TEST_CASE("additive scores have the same bits on every instruction set, whatever the numbers") {
  for (const Case& c : kCases) {
    for (const float size : {0.0f, 1.0f}) {
      same_bits([&](const Kernels& table) {
        const Scores scores(c, size);
        scores.run(table, c);
        for (uint32_t r = 0; r < c.rows; ++r) {
          for (uint32_t j = 0; j < c.panels * 16; ++j) REQUIRE(storable(scores.out.at(r, j)));
        }
        return Written().add(scores.out);
      });
    }
  }
}

}  // namespace heed::tests
