// Int8 products with AVX2: signed activations by signed weights, 32 products in four instructions.
// SPDX-License-Identifier: Apache-2.0
//
// vpmaddubsw multiplies unsigned by signed bytes and adds pairs in 16 bits, where it saturates. The unsigned side is |a|,
// at most 128; where a is negative, the weight w becomes ~w = -w - 1, from -128 to 126. So a pair lies between
// 2 * 128 * -128 = -32768 and 2 * 128 * 127 = 32512 and is exact. What is missing is |a| for each negative a, the same for all
// outputs: sums of a row start with it. (vpsignb, which makes -w, would be a third instruction for the two ports that
// multiply; an exclusive or has three.) |a| and signs are made once for all panels of a tile, so a tile has few rows and many panels.
// There are 16 registers, so it works in passes of all rows by 3 half panels: 12 sums.
#include <immintrin.h>

#include "kernels/tables.h"

namespace heed::avx2 {
namespace {

constexpr uint32_t kMaxRows = 4;
constexpr uint32_t kPassHalves = 3;
constexpr uint32_t kChunkGroups = 384;  // groups whose |a| and signs are kept at a time: 12 KB for 4 rows

// Inputs of a row, in two parts, and what its sums start with.
struct Row {
  alignas(32) uint8_t magnitude[kChunkGroups * 4];
  alignas(32) uint8_t sign[kChunkGroups * 4];  // all bits of a byte where the input is negative
  int32_t start;
};

__attribute__((always_inline)) inline __m256i broadcast_four(const uint8_t* bytes) {
  int32_t four;
  __builtin_memcpy(&four, bytes, 4);
  return _mm256_set1_epi32(four);
}

void take_row(const uint8_t* in, uint32_t bytes, Row* row) {
  __m256i sums = _mm256_setzero_si256();
  for (uint32_t i = 0; i < bytes; i += 32) {
    __m256i x = _mm256_setzero_si256();
    if (bytes - i >= 32) {
      x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    } else {
      __builtin_memcpy(&x, in + i, bytes - i);
    }
    const __m256i magnitude = _mm256_abs_epi8(x), sign = _mm256_cmpgt_epi8(_mm256_setzero_si256(), x);
    _mm256_store_si256(reinterpret_cast<__m256i*>(row->magnitude + i), magnitude);
    _mm256_store_si256(reinterpret_cast<__m256i*>(row->sign + i), sign);
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(_mm256_and_si256(magnitude, sign), _mm256_setzero_si256()));
  }
  const __m128i halves = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  row->start = _mm_cvtsi128_si32(halves) + _mm_extract_epi32(halves, 2);
}

// Part of a tile: some rows by some half panels by the groups of a chunk.
struct Pass {
  const Row* rows;
  const int8_t* w[kPassHalves];
  uint64_t groups;
  bool first;  // c is set, otherwise added to
  int32_t* c;
  uint64_t c_stride;
};

// One group of one row and half panel. In assembly, because GCC 12 runs out of registers otherwise.
__attribute__((always_inline)) inline void multiply_half(__m256i& sum, __m256i magnitude, __m256i sign, const int8_t* w,
                                                         __m256i ones) {
  __m256i product;
  asm("vpxor %4, %3, %1\n\t"
      "vpmaddubsw %1, %2, %1\n\t"
      "vpmaddwd %5, %1, %1\n\t"
      "vpaddd %1, %0, %0"
      : "+&x"(sum), "=&x"(product)
      : "x"(magnitude), "x"(sign), "m"(*reinterpret_cast<const int8_t(*)[32]>(w)), "x"(ones));
}

template <int kRows, int kHalves>
void multiply_pass(const Pass& args) {
  const Pass pass = args;
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[kRows][kHalves];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
    for (int h = 0; h < kHalves; ++h) sums[r][h] = _mm256_set1_epi32(pass.rows[r].start);
  }
#pragma GCC unroll 2
  for (uint64_t group = 0; group < pass.groups; ++group) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const __m256i magnitude = broadcast_four(pass.rows[r].magnitude + group * 4);
      const __m256i sign = broadcast_four(pass.rows[r].sign + group * 4);
#pragma GCC unroll 3
      for (int h = 0; h < kHalves; ++h) multiply_half(sums[r][h], magnitude, sign, pass.w[h] + group * 64, ones);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
    for (int h = 0; h < kHalves; ++h) {
      __m256i* c = reinterpret_cast<__m256i*>(pass.c + r * pass.c_stride + h * 8);
      _mm256_store_si256(c, pass.first ? sums[r][h] : _mm256_add_epi32(sums[r][h], _mm256_load_si256(c)));
    }
  }
}

using PassFunction = void (*)(const Pass& pass);
constexpr PassFunction kPasses[kMaxRows][2] = {
    {multiply_pass<1, 2>, multiply_pass<1, 3>},
    {multiply_pass<2, 2>, multiply_pass<2, 3>},
    {multiply_pass<3, 2>, multiply_pass<3, 3>},
    {multiply_pass<4, 2>, multiply_pass<4, 3>},
};

// All passes of a chunk: half panels three at a time, the last two or four in twos.
void multiply_chunk(const MultiplyI8& args, const Row* rows, uint32_t first_group, uint32_t groups) {
  const uint32_t all = 2 * args.panels;
  for (uint32_t half = 0, halves; half < all; half += halves) {
    halves = all - half == 2 || all - half == 4 ? 2 : 3;
    Pass pass;
    pass.rows = rows;
    pass.groups = groups;
    pass.first = first_group == 0;
    pass.c = args.c + half * 8;
    pass.c_stride = args.c_stride;
    for (uint32_t h = 0; h < halves; ++h) {
      pass.w[h] = args.w + (half + h) / 2 * args.w_panel_stride + first_group * uint64_t{64} + (half + h) % 2 * 32;
    }
    kPasses[args.rows - 1][halves - 2](pass);
  }
}

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  Row rows[kMaxRows];
  for (uint32_t group = 0; group < args.groups; group += kChunkGroups) {
    const uint32_t groups = args.groups - group < kChunkGroups ? args.groups - group : kChunkGroups;
    for (uint32_t r = 0; r < args.rows; ++r) {
      take_row(args.a + r * args.a_stride + group * uint64_t{4}, groups * 4, &rows[r]);
    }
    multiply_chunk(args, rows, group, groups);
  }
}

}  // namespace heed::avx2
