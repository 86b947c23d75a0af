// Norms, softmax of rows, sums and products, table rows and pooling: double precision, special values, the same bits.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/support/matrix.h"
#include "kernels/support/require_at.h"
#include "oracle/functions.h"

namespace heed::tests {
namespace {

Matrix& filled(Matrix& m, uint32_t seed, bool any, float shift = 0) {
  Numbers numbers(seed);
  return m.fill([&] { return any ? numbers.any() : numbers() + shift; });
}

void normalize(const Kernels& table, const Matrix& in, NormFunction function, float epsilon, const Matrix& gain,
               const Matrix* shift, Matrix& out) {
  table.normalize_rows({in.get(), in.stride(), in.rows(), in.cols(), function, epsilon, gain.get(),
                        shift ? shift->get() : nullptr, out.get(), out.stride()});
}

}  // namespace

TEST_CASE("layer and RMS norm follow their formulas, also far from 0") {
  for (const NormFunction function : {NormFunction::kLayer, NormFunction::kRms}) {
    for (const uint32_t cols : lengths()) {
      for (const float offset : {0.0f, 100.0f}) {
        if (cols == 0) continue;
        Matrix in(6, cols, 3), gain(1, cols), shift(1, cols), out(6, cols, 2);
        filled(in, cols, false, offset), filled(gain, 1, false), filled(shift, 2, false);
        normalize(*find_kernels(nullptr), in, function, 1e-5f, gain, cols % 2 ? &shift : nullptr, out);
        for (uint32_t r = 0; r < 6; ++r) {
          double mean = 0, squares = 0;
          for (uint32_t c = 0; c < cols; ++c) mean += in.at(r, c);
          mean = function == NormFunction::kLayer ? mean / cols : 0;
          for (uint32_t c = 0; c < cols; ++c) squares += (in.at(r, c) - mean) * (in.at(r, c) - mean);
          const double inverse = 1 / std::sqrt(squares / cols + double{1e-5f});
          for (uint32_t c = 0; c < cols; ++c) {
            const double scaled = (in.at(r, c) - mean) * inverse * gain.at(0, c);
            const double y = scaled + (cols % 2 ? shift.at(0, c) : 0);
            // The mean is exact to 2^-22 of the offset; one column has nothing else.
            const double room =
                function == NormFunction::kLayer ? offset * 0x1p-22 * inverse * std::fabs(gain.at(0, c)) : 0;
            REQUIRE_AT(std::fabs(out.at(r, c) - y) <= 2e-6 * (std::fabs(scaled) + 1) + room, "cols " << cols << " offset " << offset);
          }
        }
        REQUIRE(out.gaps_intact());
      }
    }
  }
}

TEST_CASE("a constant row normalizes to the shift, a row with a NaN to NaNs") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    Matrix in(2, 50), gain(1, 50), shift(1, 50), out(2, 50);
    in.fill([] { return 3.0f; });
    in.at(1, 49) = kNan;
    filled(gain, 1, false), filled(shift, 2, false);
    normalize(*table, in, NormFunction::kLayer, 1e-12f, gain, &shift, out);
    for (uint32_t c = 0; c < 50; ++c) {
      CHECK(out.at(0, c) == shift.at(0, c));
      CHECK(bits_of(out.at(1, c)) == 0x7fc00000);
    }
  }
}

TEST_CASE("softmax of rows sums to 1 and follows its formula; rows of -infinity give zeros") {
  for (const uint32_t cols : lengths()) {
    if (cols == 0) continue;
    Matrix in(3, cols, 1), out(3, cols, 2);
    filled(in, cols, false, 50);
    for (uint32_t c = 0; c < cols; ++c) in.at(1, c) = -kInf;
    in.at(2, cols / 2) = -kInf;
    find_kernels(nullptr)->softmax_rows({in.get(), in.stride(), 3, cols, out.get(), out.stride()});
    for (const uint32_t r : {0u, 2u}) {
      if (r == 2 && cols == 1) continue;
      std::vector<double> logits;
      for (uint32_t c = 0; c < cols; ++c) logits.push_back(in.at(r, c) / std::log(2.0));
      const std::vector<double> exact = oracle::softmax2(logits);
      double sum = 0;
      for (uint32_t c = 0; c < cols; ++c) {
        REQUIRE(out.at(r, c) == Approx(exact[c]).epsilon(2e-6).margin(1e-9));
        sum += out.at(r, c);
      }
      REQUIRE(sum == Approx(1).margin(1e-5));
    }
    for (uint32_t c = 0; c < cols; ++c) REQUIRE(bits_of(out.at(1, c)) == 0);
    REQUIRE(bits_of(out.at(2, cols / 2)) == 0);
    REQUIRE(out.gaps_intact());
  }
}

TEST_CASE("a NaN or +infinity makes a softmax row NaNs (MASK-07)") {
  for (const Kernels* table : runnable_tables()) {
    for (const float bad : {kNan, kInf}) {
      for (const uint32_t place : {0u, 31u, 63u}) {
        INFO(table->isa << " " << bad << " at " << place);
        Matrix in(1, 64), out(1, 64);
        filled(in, 1, false);
        in.at(0, place) = bad;
        table->softmax_rows({in.get(), 64, 1, 64, out.get(), 64});
        CHECK(bits_of(out.at(0, place)) == 0x7fc00000);
        if (std::isnan(bad)) CHECK(bits_of(out.at(0, 5)) == 0x7fc00000);
      }
    }
  }
}

TEST_CASE("L2 norm gives rows of length 1; a row of zeros stays") {
  for (const uint32_t cols : lengths()) {
    if (cols == 0) continue;
    Matrix in(2, cols, 1), out(2, cols, 2);
    filled(in, cols, false);
    for (uint32_t c = 0; c < cols; ++c) in.at(1, c) = c % 2 ? 0.0f : -0.0f;
    find_kernels(nullptr)->l2_normalize_rows({in.get(), in.stride(), 2, cols, out.get(), out.stride()});
    double squares = 0;
    for (uint32_t c = 0; c < cols; ++c) squares += double{in.at(0, c)} * in.at(0, c);
    for (uint32_t c = 0; c < cols; ++c) {
      REQUIRE(out.at(0, c) == Approx(in.at(0, c) / std::sqrt(squares)).epsilon(1e-6));
      REQUIRE(bits_of(out.at(1, c)) == 0);
    }
    REQUIRE(out.gaps_intact());
  }
}

TEST_CASE("sums, products and looked-up rows are single roundings") {
  for (const uint32_t n : lengths()) {
    Matrix a(1, n), b(1, n), sum(1, n), product(1, n), row(1, n);
    filled(a, n, false), filled(b, n + 1, false);
    const Kernels& table = *find_kernels(nullptr);
    table.add({a.get(), b.get(), n, sum.get()});
    table.multiply({a.get(), b.get(), n, product.get()});
    Guarded<int8_t> bytes(n);
    for (uint32_t i = 0; i < n; ++i) bytes[i] = static_cast<int8_t>(i * 77);
    row.fill([] { return 1.5f; });
    table.look_up_row({bytes.get(), ElementFormat::kI8, n, 0.25f, true, row.get()});
    table.look_up_row({a.get(), ElementFormat::kF32, n, 2.0f, true, row.get()});
    for (uint32_t i = 0; i < n; ++i) {
      REQUIRE(sum.at(0, i) == static_cast<float>(double{a.at(0, i)} + b.at(0, i)));
      REQUIRE(product.at(0, i) == static_cast<float>(double{a.at(0, i)} * b.at(0, i)));
      REQUIRE(row.at(0, i) == static_cast<float>(1.5 + bytes[i] * 0.25 + 2.0 * a.at(0, i)));
    }
  }
}

TEST_CASE("pooling over rows: first, mean, max and last; a NaN stays") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    for (const uint32_t rows : {1u, 2u, 7u}) {
      for (const uint32_t cols : lengths()) {
        Matrix in(rows, cols, 3), out(4, cols);
        filled(in, cols, false);
        for (int f = 0; f < 4; ++f) {
          table->pool_rows({in.get(), in.stride(), rows, cols, static_cast<PoolFunction>(f), out.row(f)});
        }
        for (uint32_t c = 0; c < cols; ++c) {
          double sum = 0;
          float most = -kInf;
          for (uint32_t r = 0; r < rows; ++r) sum += in.at(r, c), most = std::max(most, in.at(r, c));
          REQUIRE(out.at(0, c) == in.at(0, c));
          REQUIRE(out.at(1, c) == Approx(sum / rows).epsilon(1e-6).margin(1e-6));
          REQUIRE(out.at(2, c) == most);
          REQUIRE(out.at(3, c) == in.at(rows - 1, c));
        }
      }
    }
    for (const uint32_t place : {0u, 1u, 2u}) {
      float in[3] = {1, 2, 3}, out;
      in[place] = float_of(0xff800001);
      table->pool_rows({in, 1, 3, 1, PoolFunction::kMax, &out});
      CHECK(bits_of(out) == 0x7fc00000);
    }
  }
}

TEST_CASE("whole-row kernels have the same bits on every instruction set, apart and in place, for any floats") {
  for (const uint32_t cols : lengths()) {
    INFO("cols " << cols);
    for (const bool any : {false, true}) {
      for (const bool in_place : {false, true}) {
        same_bits([&](const Kernels& table) {
          Written written;
          for (int kernel = 0; kernel < 4; ++kernel) {
            Matrix in(5, cols, 3), apart(5, cols, 3), gain(1, cols), shift(1, cols);
            filled(in, cols, any), filled(gain, 1, any), filled(shift, 2, any);
            Matrix& out = in_place ? in : apart;
            if (kernel == 0) normalize(table, in, NormFunction::kLayer, 1e-12f, gain, &shift, out);
            if (kernel == 1) normalize(table, in, NormFunction::kRms, 1e-6f, gain, nullptr, out);
            if (kernel == 2) table.softmax_rows({in.get(), in.stride(), 5, cols, out.get(), out.stride()});
            if (kernel == 3) table.l2_normalize_rows({in.get(), in.stride(), 5, cols, out.get(), out.stride()});
            written.add(out);
            for (uint32_t r = 0; r < 5; ++r) {
              for (uint32_t c = 0; c < cols; ++c) REQUIRE_AT(storable(out.at(r, c)), table.isa << " kernel " << kernel << " row " << r);
            }
          }
          return written;
        });
      }
    }
  }
}

TEST_CASE("element kernels have the same bits on every instruction set for any floats, and store no tiny values") {
  for (const uint32_t n : lengths()) {
    INFO("n " << n);
    same_bits([&](const Kernels& table) {
      Matrix a(1, n), b(1, n), out(12, n);
      filled(a, n, true), filled(b, n + 1, true);
      std::vector<uint16_t> half(n);
      std::vector<int8_t> bytes(n);
      for (uint32_t i = 0; i < n; ++i)
        half[i] = static_cast<uint16_t>(i * 7919), bytes[i] = static_cast<int8_t>(i * 77);
      table.add({a.get(), b.get(), n, out.row(0)});
      table.multiply({a.get(), b.get(), n, out.row(1)});
      for (uint32_t i = 0; i < 3; ++i) {
        const void* sources[] = {a.get(), half.data(), bytes.data()};
        const ElementFormat formats[] = {ElementFormat::kF32, ElementFormat::kF16, ElementFormat::kI8};
        table.look_up_row({sources[i], formats[i], n, 0.3f, false, out.row(2 + i)});
        std::copy_n(b.get(), n, out.row(5 + i));
        table.look_up_row({sources[i], formats[i], n, 0.3f, true, out.row(5 + i)});
      }
      for (uint32_t f = 0; f < 4; ++f)
        table.pool_rows({out.get(), n, 3, n, static_cast<PoolFunction>(f), out.row(8 + f)});
      for (uint32_t i = 0; i < 12 * n; ++i) REQUIRE(storable(out.get()[i]));
      table.add({a.get(), b.get(), n, a.get()});
      table.multiply({a.get(), b.get(), n, b.get()});
      return Written().add(out).add(a).add(b);
    });
  }
}

TEST_CASE("mix goes from one row towards another, the same bits everywhere, also in place") {
  for (const uint32_t n : lengths()) {
    Matrix a(1, n), b(1, n), w(1, n), out(1, n);
    filled(a, n, false), filled(b, n + 1, false), filled(w, n + 2, false);
    find_kernels(nullptr)->mix({a.get(), b.get(), w.get(), n, out.get()});
    for (uint32_t i = 0; i < n; ++i) {
      const double y = a.at(0, i) + double{w.at(0, i)} * (double{b.at(0, i)} - a.at(0, i));
      REQUIRE(std::fabs(out.at(0, i) - y) <= 4e-7 * (std::fabs(a.at(0, i)) + std::fabs(w.at(0, i) * b.at(0, i)) + 1));
    }
    for (const bool in_place : {false, true}) {
      same_bits([&](const Kernels& table) {
        Matrix x(1, n), y(1, n), weight(1, n), z(1, n);
        filled(x, n, true), filled(y, n + 1, true), filled(weight, n + 2, true);
        table.mix({x.get(), y.get(), weight.get(), n, in_place ? x.get() : z.get()});
        return Written().add(x).add(z);
      });
    }
  }
}

TEST_CASE("log_sum_row follows its formula, the same bits everywhere") {
  std::vector<uint32_t> counts = lengths();
  counts.push_back(60000);
  for (const uint32_t n : counts) {
    if (n == 0) continue;
    for (const float amplitude : {0.0f, 1.0f, 30.0f}) {
      Matrix x(1, n);
      filled(x, n, false);
      for (uint32_t i = 0; i < n; ++i) x.row(0)[i] *= amplitude;
      double greatest = -1e30, sum = 0;
      for (uint32_t i = 0; i < n; ++i) greatest = std::max(greatest, double{x.at(0, i)});
      for (uint32_t i = 0; i < n; ++i) sum += std::exp(double{x.at(0, i)} - greatest);
      const double expected = greatest + std::log(sum);
      float total = NAN;
      find_kernels(nullptr)->log_sum_row({x.get(), n, &total});
      REQUIRE(std::fabs(double{total} - expected) <= 1e-6 * std::max(1.0, std::fabs(expected)));
    }
    for (const bool wild : {false, true}) {
      same_bits([&](const Kernels& table) {
        Matrix x(1, n), total(1, 1);
        filled(x, n, wild);
        table.log_sum_row({x.get(), n, total.get()});
        return Written().add(total);
      });
    }
  }
}

}  // namespace heed::tests
