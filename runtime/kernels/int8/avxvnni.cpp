// Int8 products with 256-bit AVX-VNNI: unsigned activations by signed weights, 32 products an instruction.
// SPDX-License-Identifier: Apache-2.0
//
// There are 16 registers and a panel's group fills two, so a tile works in passes of up to 4 rows by 3 half panels:
// 12 sums, 3 registers of weights, one input. The instruction has a latency of 5 cycles and runs twice a cycle, so
// small passes keep several sets of sums, each for its share of the inputs.
#include <immintrin.h>

#include "kernels/tables.h"

namespace heed::avxvnni {
namespace {

constexpr uint32_t kPassRows = 4;
constexpr uint32_t kPassHalves = 3;

// One group of one row: sums[h] += four inputs by the weights of half panel h. In assembly, the whole row at once:
// GCC 12 copies the sums around _mm256_dpbusd_avx_epi32.
__attribute__((always_inline)) inline void multiply_row(__m256i (&sums)[2], const uint8_t* a, const __m256i (&w)[2]) {
  __m256i in;
  asm("vpbroadcastd %3, %2\n\t"
      "%{vex%} vpdpbusd %4, %2, %0\n\t"
      "%{vex%} vpdpbusd %5, %2, %1"
      : "+&x"(sums[0]), "+&x"(sums[1]), "=&x"(in)
      : "m"(*reinterpret_cast<const uint8_t(*)[4]>(a)), "x"(w[0]), "x"(w[1]));
}

__attribute__((always_inline)) inline void multiply_row(__m256i (&sums)[3], const uint8_t* a, const __m256i (&w)[3]) {
  __m256i in;
  asm("vpbroadcastd %4, %3\n\t"
      "%{vex%} vpdpbusd %5, %3, %0\n\t"
      "%{vex%} vpdpbusd %6, %3, %1\n\t"
      "%{vex%} vpdpbusd %7, %3, %2"
      : "+&x"(sums[0]), "+&x"(sums[1]), "+&x"(sums[2]), "=&x"(in)
      : "m"(*reinterpret_cast<const uint8_t(*)[4]>(a)), "x"(w[0]), "x"(w[1]), "x"(w[2]));
}

// Part of a tile: some rows by some half panels.
struct Pass {
  const uint8_t* a;
  uint64_t a_stride;
  const int8_t* w[kPassHalves];
  uint64_t groups;
  const int32_t* sums[kPassHalves];
  int32_t* c;
  uint64_t c_stride;
};

template <int kRows, int kHalves>
__attribute__((always_inline)) inline void multiply_group(__m256i (&sums)[kRows][kHalves], const Pass& pass,
                                                          uint64_t group) {
  __m256i w[kHalves];
#pragma GCC unroll 3
  for (int h = 0; h < kHalves; ++h) w[h] = _mm256_load_si256(reinterpret_cast<const __m256i*>(pass.w[h] + group * 64));
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) multiply_row(sums[r], pass.a + r * pass.a_stride + group * 4, w);
}

template <int kRows, int kHalves>
void multiply_pass(const Pass& args) {
  constexpr int kSets = kPassRows * kPassHalves / (kRows * kHalves);
  const Pass pass = args;
  __m256i sums[kSets][kRows][kHalves] = {};
  if (pass.sums[0]) {
#pragma GCC unroll 3
    for (int h = 0; h < kHalves; ++h) {
      const __m256i all = _mm256_load_si256(reinterpret_cast<const __m256i*>(pass.sums[h]));
      const __m256i start = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(all, 7));
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) sums[0][r][h] = start;
    }
  }
  uint64_t group = 0;
  for (; group + kSets <= pass.groups; group += kSets) {
#pragma GCC unroll 6
    for (int s = 0; s < kSets; ++s) multiply_group(sums[s], pass, group + s);
  }
  if constexpr (kSets > 1) {
    for (; group < pass.groups; ++group) multiply_group(sums[0], pass, group);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
    for (int h = 0; h < kHalves; ++h) {
      __m256i sum = sums[0][r][h];
#pragma GCC unroll 6
      for (int s = 1; s < kSets; ++s) sum = _mm256_add_epi32(sum, sums[s][r][h]);
      _mm256_store_si256(reinterpret_cast<__m256i*>(pass.c + r * pass.c_stride + h * 8), sum);
    }
  }
}

using PassFunction = void (*)(const Pass& pass);
constexpr PassFunction kPasses[kPassRows][2] = {
    {multiply_pass<1, 2>, multiply_pass<1, 3>},
    {multiply_pass<2, 2>, multiply_pass<2, 3>},
    {multiply_pass<3, 2>, multiply_pass<3, 3>},
    {multiply_pass<4, 2>, multiply_pass<4, 3>},
};

}  // namespace

// 1, 2 and 3 panels are 2, 2 + 2 and 3 + 3 half panels.
void multiply_i8(const MultiplyI8& args) {
  const uint32_t halves = args.panels == 3 ? 3 : 2;
  for (uint32_t half = 0; half < 2 * args.panels; half += halves) {
    Pass pass;
    pass.a_stride = args.a_stride;
    pass.groups = args.groups;
    pass.c_stride = args.c_stride;
    for (uint32_t h = 0; h < halves; ++h) {
      pass.w[h] = args.w + (half + h) / 2 * args.w_panel_stride + (half + h) % 2 * 32;
      pass.sums[h] = args.sums ? args.sums + (half + h) * 8 : nullptr;
    }
    for (uint32_t row = 0; row < args.rows; row += kPassRows) {
      const uint32_t rows = args.rows - row < kPassRows ? args.rows - row : kPassRows;
      pass.a = args.a + row * args.a_stride;
      pass.c = args.c + row * pass.c_stride + half * 8;
      kPasses[rows - 1][halves - 2](pass);
    }
  }
}

}  // namespace heed::avxvnni
