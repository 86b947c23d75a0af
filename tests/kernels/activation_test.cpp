// Activations against double precision over all magnitudes, and bit for bit between instruction sets.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/support/matrix.h"
#include "kernels/support/samples.h"
#include "oracle/functions.h"

namespace heed::tests {
namespace {

using A = ActivationFunction;

struct Case {
  A function;
  const char* name;
  double (*exact)(double);
  double tolerance;  // of max(1, |x|)
};
const Case kCases[] = {
    {A::kNone, "none", [](double x) { return x; }, 0},
    {A::kRelu, "relu", oracle::relu, 0},
    {A::kGelu, "gelu", oracle::gelu, 1.7e-7},
    {A::kGeluTanh, "gelu_tanh", oracle::gelu_tanh, 3e-7},
    {A::kSilu, "silu", oracle::silu, 2e-7},
    {A::kTanh, "tanh", [](double x) { return std::tanh(x); }, 2e-7},
    {A::kSigmoid, "sigmoid", oracle::sigmoid, 2e-7},
};

float activated(const Kernels& table, A function, float x) {
  float y = kNan;
  table.activate({&x, 1, function, &y});
  return y;
}

}  // namespace

TEST_CASE("activations err no more than they say, over floats of every magnitude") {
  constexpr uint32_t kCount = 4096;
  const uint32_t step = sample_step(1009);  // every 1009th float
  Matrix in(1, kCount), out(1, kCount);
  for (const Case& c : kCases) {
    double worst = 0;
    bool all_storable = true;
    for (uint64_t first = 0; first < (uint64_t{1} << 32); first += uint64_t{kCount} * step) {
      for (uint32_t i = 0; i < kCount; ++i) in.at(0, i) = float_of(static_cast<uint32_t>(first + uint64_t{i} * step));
      find_kernels(nullptr)->activate({in.get(), kCount, c.function, out.get()});
      for (uint32_t i = 0; i < kCount; ++i) {
        const double x = in.at(0, i);
        all_storable = all_storable && storable(out.at(0, i));
        if (std::isnan(x)) {
          all_storable = all_storable && std::isnan(out.at(0, i));
        } else if (std::isfinite(x)) {
          const double expected = c.exact(x);
          const double flushed = std::fabs(expected) < kLeastStored ? std::fabs(expected) : 0;  // stored as 0
          worst = std::max(worst, (std::fabs(out.at(0, i) - expected) - flushed) / std::max(1.0, std::fabs(x)));
        }
      }
    }
    INFO(c.name << " errs by " << worst << " on " << find_kernels(nullptr)->isa);
    CHECK(worst <= c.tolerance);
    CHECK(all_storable);
  }
}

TEST_CASE("tanh keeps its relative error down to the smallest values") {
  const Kernels& table = *find_kernels(nullptr);
  double worst = 0;
  bool odd = true;
  for (float x = 1e-14f; x < 9.0f; x *= 1.0003f) {
    const float y = activated(table, A::kTanh, x);
    worst = std::max(worst, std::fabs(y / std::tanh(double{x}) - 1));
    odd = odd && activated(table, A::kTanh, -x) == -y;
  }
  CHECK(worst <= 3e-7);
  CHECK(odd);
}

TEST_CASE("GELU with tanh multiplies by x at the end (NUM-02)") {
  const float inputs[] = {0, 1, 3, 9};
  const double expected[] = {0, 0.841192, 2.996363, 9.0};
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    for (int i = 0; i < 4; ++i) CHECK(activated(*table, A::kGeluTanh, inputs[i]) == Approx(expected[i]).margin(1e-6));
  }
}

TEST_CASE("activations of infinities are their limits, of a NaN the one NaN") {
  const float limits[][2] = {{-kInf, kInf}, {0, kInf}, {0, kInf}, {0, kInf}, {0, kInf}, {-1, 1}, {0, 1}};
  for (const Kernels* table : runnable_tables()) {
    for (size_t i = 0; i < std::size(kCases); ++i) {
      INFO(table->isa << " " << kCases[i].name);
      CHECK(activated(*table, kCases[i].function, -kInf) == limits[i][0]);
      CHECK(activated(*table, kCases[i].function, kInf) == limits[i][1]);
      for (const uint32_t nan : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu}) {
        CHECK(bits_of(activated(*table, kCases[i].function, float_of(nan))) == 0x7fc00000);
      }
    }
  }
}

TEST_CASE("activations have the same bits on every instruction set, at every length, also in place") {
  for (const Case& c : kCases) {
    for (const uint32_t n : lengths()) {
      INFO(c.name << " " << n);
      for (const bool in_place : {false, true}) {
        same_bits([&](const Kernels& table) {
          Numbers numbers(n + 1, 3.0f);
          Matrix in(1, n), out(1, n);
          in.fill([&] { return numbers.any(); });
          table.activate({in.get(), n, c.function, in_place ? in.get() : out.get()});
          return Written().add(in).add(out);
        });
      }
    }
  }
}

}  // namespace heed::tests
