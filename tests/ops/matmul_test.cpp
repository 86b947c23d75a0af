// The matrix product driver against its formula in double precision: every cut of rows and outputs, every weight format.
// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul.h"

#include "kernels/support/matrix.h"
#include "oracle/functions.h"
#include "quant/panel.h"

namespace heed::tests {
namespace {

// A weight in panel16, packed from the drawing in quant/panel.h, with what it stands for.
class Weight {
 public:
  Weight(schema::Format format, uint32_t rows, uint32_t cols, uint32_t seed, bool bias = true)
      : cols_(cols), panels_((rows + 15) / 16), groups_((cols + 3) / 4), values_(size_t{rows} * cols), numbers_(seed),
        bytes_(data_bytes(format)), bias_(rows), scales_(rows), sums_(rows), input_scale_(cols) {
    view.rows = rows;
    view.cols = cols;
    view.format = format;
    view.layout = schema::Layout::panel16;
    view.data = bytes_.get();
    std::memset(bytes_.get(), 0, data_bytes(format));
    for (uint32_t o = 0; o < rows; ++o) {
      bias_[o] = numbers_();
      scales_[o] = 0.01f + 0.001f * static_cast<float>(o % 7);
      sums_[o] = 0;
      for (uint32_t k = 0; k < cols; ++k) value(o, k) = store(o, k);
    }
    for (uint32_t k = 0; k < cols; ++k) input_scale_[k] = 0.5f + static_cast<float>(k % 5);
    if (bias) view.bias = bias_.get();
    if (format != schema::Format::q8c) return;
    view.scales = scales_.get();
    view.sums = sums_.get();
  }

  void use_input_scale() { view.input_scale = input_scale_.get(); }
  // What is stored: without the scale of q8c.
  double& value(uint32_t o, uint32_t k) { return values_[size_t{o} * cols_ + k]; }
  double bias(uint32_t o) const { return view.bias ? bias_[o] : 0.0; }

  WeightView view;

 private:
  size_t data_bytes(schema::Format format) const {
    if (format == schema::Format::q8c) return size_t{panels_} * groups_ * 64;
    return size_t{panels_} * 16 * cols_ * (format == schema::Format::f16 ? 2 : 4);
  }
  // Makes and stores one number, and gives back what it stands for.
  double store(uint32_t o, uint32_t k) {
    const size_t place = (size_t{o / 16} * cols_ + k) * 16 + o % 16;
    if (view.format == schema::Format::f32) {
      const float x = numbers_();
      std::memcpy(bytes_.get() + place * 4, &x, 4);
      return x;
    }
    if (view.format == schema::Format::f16) {
      const auto x = static_cast<uint16_t>(numbers_.integer(0, 1) << 15 | numbers_.integer(8, 16) << 10 | numbers_.integer(0, 1023));
      std::memcpy(bytes_.get() + place * 2, &x, 2);
      return oracle::half(x);
    }
    const int x = numbers_.integer(-127, 127);
    bytes_[((size_t{o / 16} * groups_ + k / 4) * 16 + o % 16) * 4 + k % 4] = static_cast<uint8_t>(x);
    sums_[o] += x;
    return x;
  }

  uint32_t cols_, panels_, groups_;
  std::vector<double> values_;
  Numbers numbers_;
  Guarded<uint8_t> bytes_;
  Guarded<float> bias_, scales_;
  Guarded<int32_t> sums_;
  Guarded<float> input_scale_;
};

// Scratch of exactly so many bytes, between unreadable pages.
template <class Take>
class Scratch {
 public:
  explicit Scratch(Take take) : block_(count(take)) {
    std::memset(block_.get(), 0xa5, count(take));
    Carver carver(block_.get());
    pieces = take(carver);
  }
  decltype(std::declval<Take>()(std::declval<Carver&>())) pieces;

 private:
  static size_t count(Take take) {
    Carver counter(nullptr);
    take(counter);
    return counter.used();
  }
  Guarded<uint8_t> block_;
};

// Between here and its end, this thread may call multiply_i8: some tables set registers up for it.
template <class Table>
class Entered {
 public:
  explicit Entered(const Table& table) : table_(table) {
    if constexpr (requires { table.enter; }) {
      if (table_.enter) table_.enter();
    }
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered() {
    if constexpr (requires { table_.leave; }) {
      if (table_.leave) table_.leave();
    }
  }

 private:
  const Table& table_;
};

Epilogue plain(const Matrix& out) {
  Epilogue epilogue = {};
  epilogue.out = out.get();
  epilogue.out_stride = out.stride();
  return epilogue;
}

const uint32_t kRows[] = {1, 2, 7, 8, 9, 15, 16, 17, 25, 32, 33, 40};
const uint32_t kOutputs[] = {1, 15, 16, 17, 47, 48, 49, 64, 65, 100, 129};

// apply_linear with scratch of the size that is promised.
void apply(const Kernels& kernels, const Weight& weight, const Matrix& in, Epilogue epilogue, const Matrix& out) {
  const Scratch scratch([&](Carver& carver) { return take_linear_scratch(carver, weight.view, in.rows()); });
  epilogue.out = out.get();
  epilogue.out_stride = out.stride();
  const Entered entered(kernels);
  apply_linear(kernels, weight.view, {in.get(), in.stride(), in.rows()}, epilogue, scratch.pieces);
}

// The largest distance of `out` from silu(in * weight^T + bias) * factor + residual.
double farthest(Weight& weight, const Matrix& in, const Matrix& factor, const Matrix& residual, const Matrix& out) {
  double worst = 0;
  for (uint32_t r = 0; r < out.rows(); ++r) {
    for (uint32_t o = 0; o < out.cols(); ++o) {
      double x = weight.bias(o);
      for (uint32_t k = 0; k < in.cols(); ++k) x += in.at(r, k) * weight.value(o, k);
      worst = std::max(worst, std::abs(out.at(r, o) - (oracle::silu(x) * factor.at(r, o) + residual.at(r, o))));
    }
  }
  return worst;
}

// A byte of quantized rows, which lie one after the other, or four of them woven (QuantizeRows::woven).
uint8_t byte_of(const Kernels& table, const QuantizedRows& quantized, uint32_t rows, uint32_t cols, uint32_t r, uint32_t k) {
  const bool woven = table.weaves_rows && rows % 4 == 0 && cols % 8 == 0;
  return quantized.bytes[woven ? r / 4 * 4 * quantized.stride + k / 8 * 32 + r % 4 * 8 + k % 8 : r * quantized.stride + k];
}

}  // namespace

TEST_CASE("multiply_quantized is the product of the bytes, for every cut of rows and outputs (SHAPE-08)") {
  for (const Kernels* table : runnable_tables()) {
    for (const uint32_t rows : kRows) {
      for (const uint32_t outputs : kOutputs) {
        const uint32_t cols = rows % 2 ? 37 : 64;
        INFO(table->isa << " rows " << rows << " outputs " << outputs << " cols " << cols);
        Weight weight(schema::Format::q8c, outputs, cols, rows * 1000 + outputs);
        Matrix in(rows, cols, 3);
        const Matrix out(rows, outputs, 5);
        Numbers numbers(rows);
        in.fill(numbers);
        const Scratch bytes([&](Carver& carver) { return take_quantized(carver, rows, cols); });
        const Scratch tile([](Carver& carver) { return take_tile(carver); });
        if (outputs % 2) weight.use_input_scale();
        quantize_for(*table, weight.view, {in.get(), in.stride(), rows}, bytes.pieces);
        {
          const Entered entered(*table);
          multiply_quantized(*table, weight.view, bytes.pieces, rows, plain(out), tile.pieces);
        }
        double worst = 0, off = 0;  // of the products; of the bytes, in steps
        for (uint32_t r = 0; r < rows; ++r) {
          for (uint32_t o = 0; o < outputs; ++o) {
            double sum = 0;
            for (uint32_t k = 0; k < cols; ++k) {
              const uint8_t byte = byte_of(*table, bytes.pieces, rows, cols, r, k);
              const int q = table->byte_flip ? byte : static_cast<int8_t>(byte);
              sum += (q - bytes.pieces.zero[r]) * weight.value(o, k);
              const double x = in.at(r, k) * (weight.view.input_scale ? weight.view.input_scale[k] : 1.0);
              off = std::max(off, std::abs((q - bytes.pieces.zero[r]) - x / bytes.pieces.scale[r]));
            }
            const double exact = sum * bytes.pieces.scale[r] * weight.view.scales[o] + weight.bias(o);
            worst = std::max(worst, std::abs(out.at(r, o) - exact) / (std::abs(exact) + std::abs(weight.bias(o)) + 0.01));
          }
        }
        REQUIRE(worst < 1e-5);
        REQUIRE(off < 1.01);
        REQUIRE(out.gaps_intact());
      }
    }
  }
}

TEST_CASE("multiply_floats is the product, for every cut of rows and outputs, f32 and f16 (SHAPE-08)") {
  for (const Kernels* table : runnable_tables()) {
    for (const schema::Format format : {schema::Format::f32, schema::Format::f16}) {
      for (const uint32_t rows : kRows) {
        for (const uint32_t outputs : kOutputs) {
          const uint32_t cols = rows % 2 ? 37 : 64;
          INFO(table->isa << " rows " << rows << " outputs " << outputs << " cols " << cols);
          Weight weight(format, outputs, cols, rows * 1000 + outputs);
          Matrix in(rows, cols, 3);
          const Matrix out(rows, outputs, 5);
          Numbers numbers(rows);
          in.fill(numbers);
          const Scratch tile([](Carver& carver) { return take_tile(carver); });
          multiply_floats(*table, weight.view, {in.get(), in.stride(), rows}, plain(out), tile.pieces);
          double worst = 0;
          for (uint32_t r = 0; r < rows; ++r) {
            for (uint32_t o = 0; o < outputs; ++o) {
              double exact = weight.bias(o), size = std::abs(exact);
              for (uint32_t k = 0; k < cols; ++k) {
                exact += in.at(r, k) * weight.value(o, k);
                size += std::abs(in.at(r, k) * weight.value(o, k));
              }
              worst = std::max(worst, std::abs(out.at(r, o) - exact) / (size + 1e-9));
            }
          }
          REQUIRE(worst < 1e-5);
          REQUIRE(out.gaps_intact());
        }
      }
    }
  }
}

TEST_CASE("a product is the same on every instruction set, with what it adds and multiplies in its place (SHAPE-07)") {
  for (const schema::Format format : {schema::Format::q8c, schema::Format::f16, schema::Format::f32}) {
    for (const bool in_place : {false, true}) {
      const uint32_t rows = 19, cols = 70, outputs = 83;
      Weight weight(format, outputs, cols, 5);
      weight.use_input_scale();
      same_bits([&](const Kernels& table) {
        Numbers numbers(6);
        Matrix in(rows, cols, 2), factor(rows, outputs, 1), residual(rows, outputs, 4);
        const Matrix out(rows, outputs, 3);
        in.fill(numbers);
        factor.fill(numbers);
        residual.fill(numbers);
        Epilogue epilogue = {};
        epilogue.activation = ActivationFunction::kSilu;
        epilogue.factor = factor.get();
        epilogue.factor_stride = factor.stride();
        epilogue.residual = residual.get();
        epilogue.residual_stride = residual.stride();
        Matrix before(rows, outputs, 4);
        std::copy_n(residual.get(), residual.elems(), before.get());
        const Matrix& target = in_place ? residual : out;
        apply(table, weight, in, epilogue, target);
        CHECK(target.gaps_intact());
        if (format == schema::Format::f32) CHECK(farthest(weight, in, factor, before, target) < 1e-4);
        // One row at a time gives the same rows: bits do not depend on the cut.
        for (uint32_t r = 0; r < rows; ++r) {
          Matrix row(1, cols);
          const Matrix one(1, outputs);
          std::copy_n(in.row(r), cols, row.get());
          Epilogue alone = epilogue;
          alone.factor = factor.row(r);
          alone.residual = before.row(r);
          apply(table, weight, row, alone, one);
          REQUIRE(std::memcmp(one.get(), target.row(r), outputs * sizeof(float)) == 0);
        }
        return Written().add(target);
      });
    }
  }
}

TEST_CASE("a product without a bias adds none, and the caller's is ignored") {
  const Kernels& table = *find_kernels(nullptr);
  for (const schema::Format format : {schema::Format::q8c, schema::Format::f32}) {
    Weight weight(format, 20, 8, 3, false);
    Matrix in(3, 8);
    in.fill([] { return 0.0f; });
    const Matrix out(3, 20);
    const float nonsense[20] = {1, 2, 3};
    Epilogue epilogue = {};
    epilogue.bias = nonsense;
    apply(table, weight, in, epilogue, out);
    for (uint32_t o = 0; o < 20; ++o) CHECK(out.at(2, o) == 0.0f);
  }
}

TEST_CASE("rows quantized over their own floats are the same as beside them") {
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    const uint32_t rows = 9, cols = 61, outputs = 40;
    Weight weight(schema::Format::q8c, outputs, cols, 8);
    Matrix in(rows, cols, 3);
    Numbers numbers(9);
    in.fill(numbers);
    const Matrix beside(rows, outputs), over(rows, outputs);
    apply(*table, weight, in, {}, beside);
    const Scratch bytes([&](Carver& carver) { return take_quantized_in_place(carver, in.get(), in.stride(), rows); });
    const Scratch tile([](Carver& carver) { return take_tile(carver); });
    quantize_for(*table, weight.view, {in.get(), in.stride(), rows}, bytes.pieces);
    const Entered entered(*table);
    multiply_quantized(*table, weight.view, bytes.pieces, rows, plain(over), tile.pieces);
    CHECK(std::memcmp(beside.get(), over.get(), beside.elems() * sizeof(float)) == 0);
  }
}

TEST_CASE("only f32, f16 and q8c in panels can be multiplied by; scratch is what the pieces need") {
  WeightView weight;
  weight.rows = 5;
  weight.cols = 6;
  weight.layout = schema::Layout::panel16;
  for (const schema::Format format : {schema::Format::f32, schema::Format::f16, schema::Format::q8c}) {
    weight.format = format;
    CHECK(can_multiply(weight));
  }
  CHECK(linear_scratch_bytes(weight, 8) == 64 + 64 + 64 + kTileElems * 4);  // 8 * 8 bytes, scales, zeros, tile
  weight.format = schema::Format::f32;
  CHECK(linear_scratch_bytes(weight, 8) == kTileElems * 4);
  weight.format = schema::Format::q4g32;
  CHECK(!can_multiply(weight));
  weight.format = schema::Format::q8c;
  weight.layout = schema::Layout::rows;
  CHECK(!can_multiply(weight));
}

}  // namespace heed::tests
