// Epilogues of products against their formula in double precision: every activation with every mixture of options.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/support/matrix.h"
#include "kernels/support/require_at.h"
#include "oracle/functions.h"

namespace heed::tests {
namespace {

using A = ActivationFunction;

constexpr A kFunctions[] = {A::kNone, A::kRelu, A::kGelu, A::kGeluTanh, A::kSilu, A::kTanh, A::kSigmoid};
double exact(A function, double x) {
  switch (function) {
    case A::kRelu:
      return oracle::relu(x);
    case A::kGelu:
      return oracle::gelu(x);
    case A::kGeluTanh:
      return oracle::gelu_tanh(x);
    case A::kSilu:
      return oracle::silu(x);
    case A::kTanh:
      return std::tanh(x);
    case A::kSigmoid:
      return oracle::sigmoid(x);
    case A::kNone:
      break;
  }
  return x;
}

struct Options {
  A activation;
  bool bias, factor, residual, in_place;  // in_place: the residual (or factor) is the output
};

// One epilogue over random products, int8 or float.
class Epilogues {
 public:
  Epilogues(uint32_t row_count, uint32_t output_count, uint32_t seed, bool any)
      : rows(row_count),
        outputs(output_count),
        c_stride((outputs + 15) / 16 * 16 + 16),
        c(rows * c_stride),
        products(rows, c_stride),
        scale(1, rows),
        zero(rows),
        w_scale(1, outputs),
        w_sum(outputs),
        bias(1, outputs),
        factor(rows, outputs, 2),
        residual(rows, outputs, 5),
        out(rows, outputs, 3) {
    Numbers numbers(seed);
    const auto next = [&] { return any ? numbers.any() : numbers(); };
    for (uint32_t i = 0; i < rows * c_stride; ++i) c[i] = numbers.integer(-500000, 500000);
    products.fill(next);
    scale.fill([&] { return 0.01f + 0.001f * next(); });
    for (uint32_t r = 0; r < rows; ++r) zero[r] = numbers.integer(-128, 255);
    w_scale.fill([&] { return 0.002f + 0.0001f * numbers(); });
    for (uint32_t o = 0; o < outputs; ++o) w_sum[o] = numbers.integer(-5000, 5000);
    bias.fill(next);
    factor.fill(next);
    residual.fill(next);
  }

  // With ranges: for rows that are quantized next.
  void run(const Kernels& table, bool int8, const Options& options, int32_t* ranges = nullptr) {
    Epilogue e = {
        options.bias ? bias.get() : nullptr, options.activation, nullptr, 0, nullptr, 0, out.get(), out.stride(), ranges};
    if (options.factor) e.factor = factor.get(), e.factor_stride = factor.stride();
    if (options.residual) e.residual = residual.get(), e.residual_stride = residual.stride();
    if (options.in_place && options.residual) e.out = residual.get(), e.out_stride = residual.stride();
    if (options.in_place && !options.residual && options.factor) e.out = factor.get(), e.out_stride = factor.stride();
    if (int8) {
      table.finish_i8({c.get(), c_stride, rows, outputs, scale.get(), zero.get(), w_scale.get(), w_sum.get(), e});
    } else {
      table.finish_f32({products.get(), c_stride, rows, outputs, e});
    }
  }
  double product(uint32_t r, uint32_t o, bool int8) const {
    if (!int8) return products.at(r, o);
    return double(c[r * c_stride + o] - zero[r] * w_sum[o]) * scale.at(0, r) * w_scale.at(0, o);
  }
  bool gaps_intact() const { return out.gaps_intact() && residual.gaps_intact() && factor.gaps_intact(); }
  Written written() const { return Written().add(out).add(residual).add(factor); }

  uint32_t rows, outputs, c_stride;
  Guarded<int32_t> c;
  Matrix products, scale;
  Guarded<int32_t> zero;
  Matrix w_scale;
  Guarded<int32_t> w_sum;
  Matrix bias, factor, residual, out;
};

// Ranges of rows that nothing has been stored of.
std::vector<int32_t> no_ranges(uint32_t rows) {
  std::vector<int32_t> ranges(size_t{rows} * kRangeElems);
  for (size_t i = 0; i < ranges.size(); ++i) ranges[i] = i % kRangeElems < kRangeElems / 2 ? 0 : INT32_MIN;
  return ranges;
}

template <class Body>
void each_option(Body body) {
  for (const A activation : kFunctions) {
    for (int mask = 0; mask < 8; ++mask)
      body(Options{activation, (mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, false});
  }
}

}  // namespace

TEST_CASE("finished products follow the formula with every activation and every mixture of options") {
  for (const bool int8 : {true, false}) {
    each_option([&](const Options& options) {
      Epilogues e(3, 53, 1, false);
      e.run(*find_kernels(nullptr), int8, options);
      for (uint32_t r = 0; r < e.rows; ++r) {
        for (uint32_t o = 0; o < e.outputs; ++o) {
          double y = e.product(r, o, int8);
          double size = std::fabs(y);
          if (options.bias) y += e.bias.at(0, o);
          y = exact(options.activation, y);
          if (options.factor) y *= e.factor.at(r, o), size *= std::fabs(e.factor.at(r, o));
          if (options.residual) y += e.residual.at(r, o);
          REQUIRE_AT(std::fabs(e.out.at(r, o) - y) <= 6e-7 * (std::fabs(y) + size + 4),
                     "int8 " << int8 << " activation " << int(options.activation) << " row " << r << " output " << o);
        }
      }
      REQUIRE(e.gaps_intact());
    });
  }
}

TEST_CASE("finished products have the same bits on every instruction set, at every width and over its own inputs") {
  for (const bool int8 : {true, false}) {
    for (const uint32_t outputs : lengths()) {
      INFO("int8 " << int8 << " outputs " << outputs);
      each_option([&](Options options) {
        if (outputs > 49 && options.activation != A::kGelu) return;
        options.in_place = outputs % 2 == 1;
        same_bits([&](const Kernels& table) {
          Epilogues e(outputs % 5, outputs, outputs, true);
          e.run(table, int8, options);
          return e.written();
        });
      });
    }
  }
}

TEST_CASE("rows to be quantized: the formula with a coarse gelu, and the range of each lane") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    for (const uint32_t outputs : {1u, 15u, 16u, 40u, 53u, 200u}) {
      each_option([&](const Options& options) {
        Epilogues e(18, outputs, outputs, false);
        std::vector<int32_t> ranges = no_ranges(e.rows);
        e.run(*table, true, options, ranges.data());
        REQUIRE(e.gaps_intact());
        for (uint32_t r = 0; r < e.rows; ++r) {
          float hi[16] = {}, lo[16] = {};
          for (uint32_t o = 0; o < outputs; ++o) {
            double y = e.product(r, o, true);
            double size = std::fabs(y);
            if (options.bias) y += e.bias.at(0, o);
            const double coarse = options.activation == A::kGelu ? std::min(3.5e-5, 2.4e-4 * std::fabs(y)) : 0;
            y = exact(options.activation, y);
            const double factor = options.factor ? e.factor.at(r, o) : 1;
            y *= factor, size *= std::fabs(factor);
            if (options.residual) y += e.residual.at(r, o);
            const float stored = e.out.at(r, o);
            REQUIRE_AT(std::fabs(stored - y) <= 6e-7 * (std::fabs(y) + size + 4) + coarse * std::fabs(factor),
                       "activation " << int(options.activation) << " row " << r << " output " << o);
            hi[o % 16] = std::max(hi[o % 16], stored);
            lo[o % 16] = std::min(lo[o % 16], stored);
          }
          for (uint32_t lane = 0; lane < 16; ++lane) {
            REQUIRE_AT(float_of(static_cast<uint32_t>(ranges[r * kRangeElems + lane])) == hi[lane], "row " << r << " lane " << lane);
            REQUIRE_AT(float_of(static_cast<uint32_t>(ranges[r * kRangeElems + 16 + lane])) == lo[lane], "row " << r << " lane " << lane);
          }
        }
      });
    }
  }
}

TEST_CASE("rows finished for quantizing become the same bytes on every instruction set, whatever they hold") {
  for (const bool any : {false, true}) {
    for (const uint32_t outputs : lengths()) {
      for (const A activation : {A::kNone, A::kGelu, A::kSilu}) {
        INFO("outputs " << outputs << " any " << any << " activation " << int(activation));
        same_bits([&](const Kernels& table) {
          Epilogues e(outputs % 19, outputs, outputs, any);
          std::vector<int32_t> ranges = no_ranges(e.rows);
          e.run(table, true, {activation, true, outputs % 2 == 0, outputs % 3 == 0, false}, ranges.data());
          const uint32_t stride = (outputs + 3) / 4 * 4;
          Guarded<uint8_t> bytes(e.rows * stride);
          Matrix scale(1, e.rows);
          Guarded<int32_t> zero(e.rows);
          table.quantize_rows({e.out.get(), e.out.stride(), e.rows, outputs, nullptr, 0, bytes.get(), stride, scale.get(), zero.get(), false,
                               ranges.data()});
          return Written().add(bytes.get(), e.rows * stride).add(scale).add(zero.get(), e.rows);
        });
      }
    }
  }
}

TEST_CASE("what is finished may be stored: no tiny values, one NaN") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    each_option([&](const Options& options) {
      for (const bool int8 : {true, false}) {
        Epilogues e(4, 50, 8, true);
        e.run(*table, int8, options);
        for (uint32_t i = 0; i < 200; ++i) REQUIRE(storable(e.out.at(i / 50, i % 50)));
      }
    });
  }
}

TEST_CASE("a zero point is taken off once: (12 * 3 + 20 * -4 - 10 * (3 - 4)) / 8 = -4.25 (QNT-06)") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    alignas(64) int32_t c[16] = {12 * 3 + 20 * -4};
    const float scale = 0.5f, w_scale = 0.25f;
    const int32_t w_sum = 3 - 4;
    for (const int32_t zero : {10, 0}) {
      float y = kNan;
      const Epilogue e = {nullptr, A::kNone, nullptr, 0, nullptr, 0, &y, 1, nullptr};
      table->finish_i8({c, 16, 1, 1, &scale, &zero, &w_scale, &w_sum, e});
      CHECK(y == (zero ? -4.25f : -5.5f));
    }
  }
}

}  // namespace heed::tests
