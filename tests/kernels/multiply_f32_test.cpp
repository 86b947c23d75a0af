// The float matrix product against double precision, in order of k, with f32 and f16 weights.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/support/matrix.h"
#include "kernels/support/require_at.h"
#include "oracle/functions.h"
#include "quant/panel.h"

namespace heed::tests {
namespace {

// rows x cols by panels of 16 outputs.
class Product {
 public:
  Product(uint32_t row_count, uint32_t panel_count, uint32_t col_count, uint32_t seed, bool any = false)
      : rows(row_count),
        panels(panel_count),
        cols(col_count),
        panel_stride(cols * kPanelRows + 48),
        a(rows, cols, 3),
        w(panels * panel_stride),
        half(panels * panel_stride),
        c(rows, panels * kPanelRows, 16) {
    Numbers numbers(seed);
    a.fill([&] { return any ? numbers.any() : numbers(); });
    for (uint32_t i = 0; i < panels * panel_stride; ++i) {
      w[i] = any ? numbers.any() : numbers();
      half[i] = static_cast<uint16_t>(numbers.integer(0, 0xffff));
      if (!any && (half[i] & 0x7c00) == 0x7c00) half[i] ^= 0x4000;  // no NaN, no infinity
    }
  }
  void run(const Kernels& table, bool f16) {
    const void* weights = f16 ? static_cast<const void*>(half.get()) : w.get();
    table.multiply_f32({a.get(), a.stride(), rows, panels, cols, weights,
                        f16 ? ElementFormat::kF16 : ElementFormat::kF32, panel_stride, c.get(), c.stride()});
  }
  double weight(uint32_t k, uint32_t o, bool f16) const {
    const uint64_t i = o / 16 * panel_stride + k * 16 + o % 16;
    return f16 ? oracle::half(half[i]) : double{w[i]};
  }

  uint32_t rows, panels, cols;
  uint64_t panel_stride;
  Matrix a;
  Guarded<float> w;
  Guarded<uint16_t> half;
  Matrix c;
};

}  // namespace

TEST_CASE("the float product equals double precision within its rounding, for all tile shapes") {
  for (const bool f16 : {false, true}) {
    for (uint32_t rows = 1; rows <= 8; ++rows) {
      for (uint32_t panels = 1; panels <= 4; ++panels) {
        for (const uint32_t cols : {0u, 1u, 2u, 7u, 64u, 385u}) {
          Product p(rows, panels, cols, rows * 4 + panels);
          p.run(*find_kernels(nullptr), f16);
          for (uint32_t r = 0; r < rows; ++r) {
            for (uint32_t o = 0; o < panels * 16; ++o) {
              double sum = 0, size = 0;
              for (uint32_t k = 0; k < cols; ++k) {
                const double term = p.a.at(r, k) * p.weight(k, o, f16);
                sum += term;
                size += std::fabs(term);
              }
              REQUIRE_AT(std::fabs(p.c.at(r, o) - sum) <= (cols + 1) * 6e-8 * size,
                         "f16 " << f16 << " rows " << rows << " panels " << panels << " cols " << cols);
            }
          }
          REQUIRE(p.c.gaps_intact());
        }
      }
    }
  }
}

TEST_CASE("the float product has the same bits on every instruction set, and as a sum in order of k") {
  for (const bool f16 : {false, true}) {
    for (const bool any : {false, true}) {
      for (uint32_t rows = 1; rows <= 8; ++rows) {
        for (uint32_t panels = 1; panels <= 4; ++panels) {
          for (const uint32_t cols : {0u, 1u, 5u, 33u}) {
            INFO("f16 " << f16 << " any " << any << " rows " << rows << " panels " << panels << " cols " << cols);
            same_bits([&](const Kernels& table) {
              Product p(rows, panels, cols, cols, any);
              p.run(table, f16);
              return Written().add(p.c);
            });
          }
        }
      }
    }
  }
  Product p(1, 1, 300, 1);
  p.run(*find_kernels(nullptr), false);
  for (uint32_t o = 0; o < 16; ++o) {
    volatile float sum = 0;  // volatile: no product is fused with its sum
    for (uint32_t k = 0; k < 300; ++k) {
      const volatile float term = p.a.at(0, k) * p.w[k * 16 + o];
      sum = sum + term;
    }
    REQUIRE(p.c.at(0, o) == sum);
  }
}

TEST_CASE("every f16 value is exact, subnormals too (NUM-08)") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    std::vector<uint16_t> all(1 << 16);
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
    std::vector<float> looked_up(all.size());
    table->look_up_row(
        {all.data(), ElementFormat::kF16, static_cast<uint32_t>(all.size()), 1.0f, false, looked_up.data()});
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < all.size(); ++i) {
      const double expected = oracle::half(all[i]);
      float c[16];
      const float one = 1;
      uint16_t line[16] = {all[i]};
      if (i % 7 == 0)
        table->multiply_f32({&one, 1, 1, 1, 1, line, ElementFormat::kF16, 16, c, 16});
      else
        c[0] = looked_up[i];
      if (std::isnan(expected)) {
        wrong += bits_of(looked_up[i]) != 0x7fc00000 || bits_of(c[0]) != 0x7fc00000;
      } else {
        wrong += looked_up[i] != expected || c[0] != expected;
      }
    }
    CHECK(wrong == 0);
    CHECK(looked_up[0x0001] == 5.9604645e-08f);
    CHECK(looked_up[0x03ff] == 6.0975552e-05f);
    CHECK(looked_up[0x8001] == -5.9604645e-08f);
  }
}

}  // namespace heed::tests
