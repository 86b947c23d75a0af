// Int8 products with AVX-512 VNNI: unsigned activations by signed weights, 64 products an instruction.
// SPDX-License-Identifier: Apache-2.0
//
// A tile is up to 8 rows by 3 panels, its sums in up to 24 of the 32 registers. The instruction has a latency of 5
// cycles and two ports, so at least 10 sums must be under way: smaller tiles keep several sets of sums, each for its
// share of the inputs (integer sums may be split in any way).
#include <immintrin.h>

#include "kernels/tables.h"

namespace heed::avx512vnni {
namespace {

// Builds for size keep each tile's loop as short as it can be and have small tiles only: a sixth of the code, and the same sums.
#ifdef __OPTIMIZE_SIZE__
constexpr bool kForSize = true;
#else
constexpr bool kForSize = false;
#endif
constexpr int kMaxRows = kForSize ? 4 : 8;  // of a tile; a call may bring more
constexpr int kMaxPanels = 3;

// One group of one row: sums[p] += four inputs by the weights of panel p. In assembly, the whole row at once, because
// GCC 12 copies the sums around _mm512_dpbusd_epi32, and around single instructions when a tile is large.
__attribute__((always_inline)) inline void multiply_row(__m512i (&sums)[1], const uint8_t* a, const __m512i (&w)[1]) {
  __m512i in;
  asm("vpbroadcastd %2, %1\n\t"
      "vpdpbusd %3, %1, %0"
      : "+&v"(sums[0]), "=&v"(in)
      : "m"(*reinterpret_cast<const uint8_t(*)[4]>(a)), "v"(w[0]));
}

__attribute__((always_inline)) inline void multiply_row(__m512i (&sums)[2], const uint8_t* a, const __m512i (&w)[2]) {
  __m512i in;
  asm("vpbroadcastd %3, %2\n\t"
      "vpdpbusd %4, %2, %0\n\t"
      "vpdpbusd %5, %2, %1"
      : "+&v"(sums[0]), "+&v"(sums[1]), "=&v"(in)
      : "m"(*reinterpret_cast<const uint8_t(*)[4]>(a)), "v"(w[0]), "v"(w[1]));
}

__attribute__((always_inline)) inline void multiply_row(__m512i (&sums)[3], const uint8_t* a, const __m512i (&w)[3]) {
  __m512i in;
  asm("vpbroadcastd %4, %3\n\t"
      "vpdpbusd %5, %3, %0\n\t"
      "vpdpbusd %6, %3, %1\n\t"
      "vpdpbusd %7, %3, %2"
      : "+&v"(sums[0]), "+&v"(sums[1]), "+&v"(sums[2]), "=&v"(in)
      : "m"(*reinterpret_cast<const uint8_t(*)[4]>(a)), "v"(w[0]), "v"(w[1]), "v"(w[2]));
}

// One group of the whole tile.
template <int kRows, int kPanels>
__attribute__((always_inline)) inline void multiply_group(__m512i (&sums)[kRows][kPanels], const MultiplyI8& args,
                                                          uint64_t group) {
  __m512i w[kPanels];
#pragma GCC unroll 3
  for (int p = 0; p < kPanels; ++p) w[p] = _mm512_load_si512(args.w + p * args.w_panel_stride + group * 64);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) multiply_row(sums[r], args.a + r * args.a_stride + group * 4, w);
}

// Fetches a line for each panel, into the second cache.
template <int kPanels>
__attribute__((always_inline)) inline void fetch(const int8_t*& ahead) {
#pragma GCC unroll 3
  for (int p = 0; p < kPanels; ++p, ahead += 64) __builtin_prefetch(ahead, 0, 2);
}

// What the sums of a panel start with.
__attribute__((always_inline)) inline __m512i start_of(const int32_t* sums) {
  return _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(_mm512_load_si512(sums), 7));
}

// Rows from `row` on, fetching `fetches` lines for each panel of every 4 groups.
template <int kRows, int kPanels>
void multiply_tile(const MultiplyI8& args, uint32_t row, const int8_t* ahead, int fetches) {
  constexpr int kSums = kRows * kPanels;
  constexpr int kSets = kForSize || kSums >= 10 ? 1 : kSums >= 5 ? 2 : 4;
  constexpr int kUnroll = kForSize ? 1 : 4;  // address arithmetic takes ports from the products
  // One by one: fields that were just written are not there yet for a copy of them all in wide registers.
  MultiplyI8 tile;
  tile.a = args.a + row * args.a_stride;
  tile.a_stride = args.a_stride;
  tile.groups = args.groups;
  tile.w = args.w;
  tile.w_panel_stride = args.w_panel_stride;
  tile.c = args.c + row * uint64_t{args.c_stride};
  tile.c_stride = args.c_stride;
  __m512i sums[kSets][kRows][kPanels] = {};
  if (args.sums) {
#pragma GCC unroll 3
    for (int p = 0; p < kPanels; ++p) {
      const __m512i start = start_of(args.sums + p * 16);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) sums[0][r][p] = start;
    }
  }
  uint64_t group = 0;
  for (; group + kUnroll <= tile.groups; group += kUnroll) {
#pragma GCC unroll 4
    for (int i = 0; i < kUnroll; ++i) {
      multiply_group(sums[i % kSets], tile, group + i);
      if (!kForSize && i < fetches) fetch<kPanels>(ahead);
    }
  }
  for (; group < tile.groups; ++group) multiply_group(sums[0], tile, group);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
    for (int p = 0; p < kPanels; ++p) {
      __m512i sum = sums[0][r][p];
#pragma GCC unroll 4
      for (int s = 1; s < kSets; ++s) sum = _mm512_add_epi32(sum, sums[s][r][p]);
      _mm512_store_si512(tile.c + r * uint64_t{tile.c_stride} + p * 16, sum);
    }
  }
}

using Tile = void (*)(const MultiplyI8& args, uint32_t row, const int8_t* ahead, int fetches);
constexpr Tile kTiles[][kMaxPanels] = {
    {multiply_tile<1, 1>, multiply_tile<1, 2>, multiply_tile<1, 3>},
    {multiply_tile<2, 1>, multiply_tile<2, 2>, multiply_tile<2, 3>},
    {multiply_tile<3, 1>, multiply_tile<3, 2>, multiply_tile<3, 3>},
    {multiply_tile<4, 1>, multiply_tile<4, 2>, multiply_tile<4, 3>},
#ifndef __OPTIMIZE_SIZE__
    {multiply_tile<5, 1>, multiply_tile<5, 2>, multiply_tile<5, 3>},
    {multiply_tile<6, 1>, multiply_tile<6, 2>, multiply_tile<6, 3>},
    {multiply_tile<7, 1>, multiply_tile<7, 2>, multiply_tile<7, 3>},
    {multiply_tile<8, 1>, multiply_tile<8, 2>, multiply_tile<8, 3>},
#endif
};
static_assert(sizeof(kTiles) / sizeof(kTiles[0]) == kMaxRows);

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  const uint32_t rows = args.rows, panels = args.panels;
  const int fetches = static_cast<int>(args.fetches);
  if (kForSize) {
    for (uint32_t row = 0, next = 0; row < rows; row = next) {
      next = row + kMaxRows < rows ? row + kMaxRows : rows;
      kTiles[next - row - 1][panels - 1](args, row, nullptr, 0);
    }
    return;
  }
  if (rows <= kMaxRows) return kTiles[rows - 1][panels - 1](args, 0, args.ahead, fetches);
  const uint32_t first = rows / 2;
  const int first_fetches = fetches / 2;
  kTiles[first - 1][panels - 1](args, 0, args.ahead, first_fetches);
  const int8_t* rest = args.ahead + uint64_t{args.groups / 4} * 64 * panels * static_cast<uint32_t>(first_fetches);
  kTiles[rows - first - 1][panels - 1](args, first, rest, fetches - first_fetches);
}

}  // namespace heed::avx512vnni
