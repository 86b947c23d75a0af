// multiply_i8 of every instruction set against a plain loop: all tile shapes, extreme bytes, no access outside.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include "kernels/support/guarded.h"
#include "kernels/support/isas.h"
#include "quant/panel.h"

namespace heed::tests {
namespace {

constexpr int32_t kPoison = 0x5a5a5a5a;

// One call with memory of its own: `a` ends with its last byte at an unreadable page, on whatever address that makes;
// there are gaps between rows of `a`, between panels and between rows of `c`.
class Product {
 public:
  Product(const Kernels& table, uint32_t rows, uint32_t panels, uint32_t groups)
      : table_(table),
        rows_(rows),
        panels_(panels),
        groups_(groups),
        a_stride_(groups * 4 + 3),
        w_stride_((groups + 1) * 64),
        c_stride_(panels * 16 + 16),
        a_((rows - 1) * a_stride_ + groups * 4),
        w_((panels - 1) * w_stride_ + groups * 64),
        c_((rows - 1) * c_stride_ + panels * 16) {
    std::fill_n(a_.get(), (rows - 1) * a_stride_ + groups * 4, 0x7f);
    std::fill_n(w_.get(), (panels - 1) * w_stride_ + groups * 64, int8_t{0x7f});
    std::fill_n(c_.get(), c_elems(), kPoison);
  }

  // Bytes as the table wants them: q ^ byte_flip.
  template <class Next>
  void fill_inputs(Next next) {
    for (uint32_t r = 0; r < rows_; ++r) {
      for (uint32_t k = 0; k < groups_ * 4; ++k) a_row(r)[k] = static_cast<uint8_t>(next()) ^ table_.byte_flip;
    }
  }
  template <class Next>
  void fill_weights(Next next) {
    for (uint32_t p = 0; p < panels_; ++p) {
      for (uint32_t i = 0; i < groups_ * 64; ++i) w_[p * w_stride_ + i] = static_cast<int8_t>(next());
    }
  }

  void run(const int32_t* sums = nullptr) {
    MultiplyI8 args = {};
    args.a = a_row(0);
    args.a_stride = a_stride_;
    args.rows = rows_;
    args.panels = panels_;
    args.groups = groups_;
    args.w = w_.get();
    args.w_panel_stride = w_stride_;
    args.sums = sums;
    args.c = c_.get();
    args.c_stride = static_cast<uint32_t>(c_stride_);
    args.ahead = w_.get();
    args.fetches = groups_ % 3 == 0 ? 0 : groups_ % 5;  // changes nothing
    if (table_.enter) table_.enter();
    table_.multiply_i8(args);
    if (table_.leave) table_.leave();
  }

  // The same with woven rows.
  void run_woven() {
    const size_t bytes = size_t{groups_} * 4;
    Guarded<uint8_t> woven(rows_ * bytes);
    for (uint32_t r = 0; r < rows_; ++r) {
      for (size_t k = 0; k < bytes; ++k) woven[r / 4 * 4 * bytes + k / 8 * 32 + r % 4 * 8 + k % 8] = a_row(r)[k];
    }
    table_.multiply_i8({woven.get(), bytes, rows_, panels_, groups_, w_.get(), w_stride_, nullptr, c_.get(),
                        static_cast<uint32_t>(c_stride_), true, nullptr, 0});
  }

  int32_t result(uint32_t r, uint32_t o) const { return c_[r * c_stride_ + o]; }

  int64_t expected(uint32_t r, uint32_t o) const {
    int64_t sum = 0;
    for (uint32_t k = 0; k < groups_ * 4; ++k) {
      const int64_t in = table_.byte_flip ? int64_t{a_row(r)[k]} : int64_t{static_cast<int8_t>(a_row(r)[k])};
      sum += in * weight(o, k);
    }
    return sum;
  }
  int64_t weight_sum(uint32_t o) const {
    int64_t sum = 0;
    for (uint32_t k = 0; k < groups_ * 4; ++k) sum += weight(o, k);
    return sum;
  }

  // Results that are wrong, and elements between the rows of the result that were written.
  int mistakes() const {
    int count = 0;
    for (uint32_t i = 0; i < c_elems(); ++i) {
      const uint32_t r = i / c_stride_, o = i % c_stride_;
      count += c_[i] != (o < panels_ * 16 ? expected(r, o) : kPoison);
    }
    return count;
  }

 private:
  size_t c_elems() const { return (rows_ - 1) * c_stride_ + panels_ * 16; }
  uint8_t* a_row(uint32_t r) const { return a_.get() + r * a_stride_; }
  int64_t weight(uint32_t o, uint32_t k) const { return w_[o / 16 * w_stride_ + k / 4 * 64 + o % 16 * 4 + k % 4]; }

  const Kernels& table_;
  uint32_t rows_, panels_, groups_;
  size_t a_stride_, w_stride_, c_stride_;
  Guarded<uint8_t> a_;
  Guarded<int8_t> w_;
  Guarded<int32_t> c_;
};

int byte_in(std::mt19937& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

}  // namespace

TEST_CASE("each instruction set that this processor has is tried under its own name") {
  WARN("instruction sets:\n" + isa_report());
  const auto tables = runnable_tables();
  REQUIRE(!tables.empty());
  CHECK(std::string(tables.back()->isa) == "ref");
  for (const Kernels* table : tables) {
    CHECK(find_kernels(table->isa) == table);
    CHECK(table->tile_rows * table->tile_panels * 16 <= kTileElems);
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    for (size_t j = 0; j < i; ++j) CHECK(tables[i]->multiply_i8 != tables[j]->multiply_i8);
  }
#if defined(__x86_64__)
  // Only what was left out of the build may be missing.
  if (__builtin_cpu_supports("avx2")) CHECK(isa_report().find("\navx2: not possible here (this") == std::string::npos);
  if (__builtin_cpu_supports("avx512vnni")) CHECK(isa_report().find("avx512vnni: not possible here (this") != 0);
#endif
}

TEST_CASE("multiply_i8 equals a plain loop for all tile shapes and writes nothing else (SHAPE-08)") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    std::mt19937 random(7);
    for (uint32_t rows = 1; rows <= table->tile_rows; ++rows) {
      for (uint32_t panels = 1; panels <= table->tile_panels; ++panels) {
        // Around every number of groups that some kernel works on together, and around a chunk of 96.
        for (uint32_t groups : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 24, 25, 31, 33, 95, 96, 97, 193}) {
          Product product(*table, rows, panels, groups);
          product.fill_inputs([&] { return byte_in(random, -128, 127); });
          product.fill_weights([&] { return byte_in(random, -127, 127); });
          product.run();
          INFO("rows " << rows << " panels " << panels << " groups " << groups);
          REQUIRE(product.mistakes() == 0);
        }
      }
    }
  }
}

TEST_CASE("multiply_i8 takes 128 times the sums off where bytes are unsigned, and looks at none where they are signed") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    std::mt19937 random(9);
    for (uint32_t rows = 1; rows <= table->tile_rows; ++rows) {
      for (uint32_t panels = 1; panels <= table->tile_panels; ++panels) {
        for (uint32_t groups : {1, 7, 8, 16, 33}) {
          Product product(*table, rows, panels, groups);
          product.fill_inputs([&] { return byte_in(random, -128, 127); });
          product.fill_weights([&] { return byte_in(random, -127, 127); });
          Guarded<int32_t> sums(panels * 16);
          for (uint32_t o = 0; o < panels * 16; ++o) sums[o] = byte_in(random, -500000, 500000);
          product.run(sums.get());
          uint32_t mistakes = 0;
          for (uint32_t r = 0; r < rows; ++r) {
            for (uint32_t o = 0; o < panels * 16; ++o) {
              mistakes += product.result(r, o) != product.expected(r, o) - int64_t{table->byte_flip} * sums[o];
            }
          }
          INFO("rows " << rows << " panels " << panels << " groups " << groups);
          REQUIRE(mistakes == 0);
        }
      }
    }
  }
}

TEST_CASE("multiply_i8 gives the same for woven rows, where it takes them") {
  for (const Kernels* table : runnable_tables()) {
    if (!table->weaves_rows) continue;
    INFO(table->isa);
    std::mt19937 random(8);
    for (uint32_t rows = 4; rows <= table->tile_rows; rows += 4) {
      for (uint32_t groups : {2, 4, 6, 8, 10, 12, 30, 32, 34, 96, 384, 398, 776}) {
        Product product(*table, rows, 2, groups);
        product.fill_inputs([&] { return byte_in(random, -128, 127); });
        product.fill_weights([&] { return byte_in(random, -127, 127); });
        product.run_woven();
        INFO("rows " << rows << " groups " << groups);
        REQUIRE(product.mistakes() == 0);
      }
    }
  }
}

TEST_CASE("multiply_i8 is exact for the extreme bytes in any mixture") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    std::mt19937 random(11);
    const int inputs[] = {-128, -127, -1, 0, 1, 127};
    const int weights[] = {-127, -126, -1, 0, 1, 127};
    for (uint32_t rows = 1; rows <= table->tile_rows; ++rows) {
      for (uint32_t panels = 1; panels <= table->tile_panels; ++panels) {
        for (uint32_t groups : {1, 2, 13, 100}) {
          Product product(*table, rows, panels, groups);
          product.fill_inputs([&] { return inputs[byte_in(random, 0, 5)]; });
          product.fill_weights([&] { return weights[byte_in(random, 0, 5)]; });
          product.run();
          INFO("rows " << rows << " panels " << panels << " groups " << groups);
          REQUIRE(product.mistakes() == 0);
        }
      }
    }
  }
}

TEST_CASE("sums of extreme products do not saturate up to the longest row (QNT-03)") {
  // No weight of -128 is stored: the converter's range is [-127, 127].
  // 255 * 127 + 255 * 127 = 64770 is more than 16 bits hold.
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    for (const int input : {127, -128}) {
      for (const int weight : {127, -127}) {
        for (const uint32_t cols : {2u, 4u, 64u, 256u, kMaxInt8Cols}) {
          const uint32_t groups = (cols + 3) / 4;
          Product product(*table, 2, 1, groups);
          uint32_t next = 0;
          product.fill_inputs([&] { return input; });
          product.fill_weights([&] {
            const uint32_t i = next++;
            return i / 64 * 4 + i % 4 < cols ? weight : 0;
          });
          product.run();
          const int64_t byte = table->byte_flip ? input + 128 : input;
          INFO("input " << input << " weight " << weight << " cols " << cols);
          for (uint32_t o = 0; o < 16; ++o) REQUIRE(product.result(1, o) == byte * weight * cols);
        }
      }
    }
  }
  const Kernels* best = find_kernels(nullptr);
  if (best->byte_flip == 0x80) {
    Product product(*best, 1, 1, 64);
    product.fill_inputs([] { return 127; });
    product.fill_weights([] { return 127; });
    product.run();
    CHECK(product.result(0, 15) == 8290560);
  }
}

TEST_CASE("with the sums of the weights, signed and unsigned inputs give the same product (SHAPE-07)") {
  // c - zero * sum(w) with zero = z, or z + 128 where bytes are unsigned: sum((q - z) * w) everywhere.
  constexpr int z = -37;
  for (const uint32_t groups : {1u, 12u, 96u, 101u}) {
    std::vector<int64_t> first;
    for (const Kernels* table : runnable_tables()) {
      INFO(table->isa << " groups " << groups);
      std::mt19937 random(13);
      Product product(*table, 4, 2, groups);  // of all tables
      product.fill_weights([&] { return byte_in(random, -127, 127); });
      product.fill_inputs([&] { return byte_in(random, -128, 127); });
      product.run();
      std::vector<int64_t> corrected;
      for (uint32_t o = 0; o < 16; ++o) {
        corrected.push_back(product.result(0, o) - (z + table->byte_flip) * product.weight_sum(o));
      }
      REQUIRE(product.mistakes() == 0);
      if (first.empty()) first = corrected;
      CHECK(corrected == first);
    }
  }
}

}  // namespace heed::tests
