// Int8 products with AVX2: signed activations by signed weights, both widened to 16 bits, 16 products an instruction.
// SPDX-License-Identifier: Apache-2.0
//
// vpmaddwd is exact whatever the bytes are; vpmaddubsw, which takes bytes, saturates sums of two products at 16 bits.
// Inputs are widened once for all panels of a tile, weights as they are loaded, once for 4 rows. A half panel's group
// becomes two registers, each with 4 outputs by 2 pairs of inputs; the pairs are added at the end.
#include <immintrin.h>

#include "kernels/tables.h"

namespace heed::avx2 {
namespace {

constexpr uint32_t kMaxRows = 8;
constexpr uint32_t kPassRows = 4;
constexpr uint32_t kChunkGroups = 96;  // groups widened at a time: 6 KB for 8 rows

using WideRow = int16_t[kChunkGroups * 4];

void widen(const uint8_t* in, uint32_t groups, int16_t* out) {
  uint32_t g = 0;
  for (; g + 4 <= groups; g += 4) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + g * 4));
    _mm256_store_si256(reinterpret_cast<__m256i*>(out + g * 4), _mm256_cvtepi8_epi16(bytes));
  }
  for (; g < groups; ++g) {
    int32_t four;
    __builtin_memcpy(&four, in + g * 4, 4);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + g * 4), _mm_cvtepi8_epi16(_mm_cvtsi32_si128(four)));
  }
}

// Part of a tile: some rows by half a panel by the groups of a chunk.
struct Pass {
  const WideRow* a;
  const int8_t* w;
  uint32_t groups;
  bool first;  // c is set, otherwise added to
  int32_t* c;
  uint64_t c_stride;
};

template <int kRows>
void multiply_pass(const Pass& args) {
  const Pass pass = args;
  __m256i sums[kRows][2] = {};
  for (uint64_t g = 0; g < pass.groups; ++g) {
    const __m128i* w = reinterpret_cast<const __m128i*>(pass.w + g * 64);
    const __m256i low = _mm256_cvtepi8_epi16(_mm_load_si128(w));
    const __m256i high = _mm256_cvtepi8_epi16(_mm_load_si128(w + 1));
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      long long four;
      __builtin_memcpy(&four, pass.a[r] + g * 4, 8);
      const __m256i in = _mm256_set1_epi64x(four);
      sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(in, low));
      sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(in, high));
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    // Outputs 0 1 4 5 2 3 6 7, then in order.
    const __m256i pairs = _mm256_hadd_epi32(sums[r][0], sums[r][1]);
    __m256i sum = _mm256_permute4x64_epi64(pairs, 0xd8);
    __m256i* c = reinterpret_cast<__m256i*>(pass.c + r * pass.c_stride);
    if (!pass.first) sum = _mm256_add_epi32(sum, _mm256_load_si256(c));
    _mm256_store_si256(c, sum);
  }
}

using PassFunction = void (*)(const Pass& pass);
constexpr PassFunction kPasses[kPassRows] = {multiply_pass<1>, multiply_pass<2>, multiply_pass<3>, multiply_pass<4>};

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  alignas(32) WideRow wide[kMaxRows];
  const uint32_t most_rows = args.rows > kPassRows ? (args.rows + 1) / 2 : args.rows;
  for (uint32_t group = 0; group < args.groups; group += kChunkGroups) {
    Pass pass;
    pass.groups = args.groups - group < kChunkGroups ? args.groups - group : kChunkGroups;
    pass.first = group == 0;
    pass.c_stride = args.c_stride;
    for (uint32_t r = 0; r < args.rows; ++r) widen(args.a + r * args.a_stride + group * 4, pass.groups, wide[r]);
    for (uint32_t half = 0; half < 2 * args.panels; ++half) {
      pass.w = args.w + half / 2 * args.w_panel_stride + group * 64 + half % 2 * 32;
      for (uint32_t row = 0; row < args.rows; row += most_rows) {
        const uint32_t rows = args.rows - row < most_rows ? args.rows - row : most_rows;
        pass.a = wide + row;
        pass.c = args.c + row * pass.c_stride + half * 8;
        kPasses[rows - 1](pass);
      }
    }
  }
}

}  // namespace heed::avx2
