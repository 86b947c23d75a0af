// Int8 products with the first NEON of aarch64, which has no dot product: 16-bit products, two of them added before they
// go to 32 bits.
// SPDX-License-Identifier: Apache-2.0
//
// |a| <= 128 and |w| <= 127, so two products are at most 32512 and their sum is exact in 16 bits. smull and smlal
// multiply the same inputs of two groups, sadalp adds neighbours to 32 bits: 16 products in three instructions. A block
// is 2 rows by one panel: 16 sums, each of two inputs of two outputs. In assembly, in this order: GCC 12 runs out of
// registers otherwise, and an in-order core would wait for each product.
#include "kernels/int8/aarch64.h"

namespace heed::neon {
namespace {

using aarch64::load_weights;

constexpr int kQuads = 4;  // of outputs in a panel

struct Block {
  const uint8_t* a;
  uint64_t a_stride;
  const int8_t* w;
  uint32_t groups;
  int32_t* c;
  uint64_t c_stride;
};

// Sums of 4 outputs: inputs 0 and 1, and 2 and 3, of each.
struct Sums {
  int32x4_t low;   // outputs 0 and 1
  int32x4_t high;  // outputs 2 and 3
};

// Two groups of 4 outputs: w[g] by a[r][g].
__attribute__((always_inline)) inline void multiply_two(Sums& row, int8x16_t w0, int8x16_t w1, int8x16_t a0,
                                                        int8x16_t a1) {
  int16x8_t low, high;
  asm volatile(
      "smull %2.8h, %4.8b, %6.8b\n\t"
      "smull2 %3.8h, %4.16b, %6.16b\n\t"
      "smlal %2.8h, %5.8b, %7.8b\n\t"
      "smlal2 %3.8h, %5.16b, %7.16b\n\t"
      "sadalp %0.4s, %2.8h\n\t"
      "sadalp %1.4s, %3.8h"
      : "+w"(row.low), "+w"(row.high), "=&w"(low), "=&w"(high)
      : "w"(w0), "w"(w1), "w"(a0), "w"(a1));
}

__attribute__((always_inline)) inline void multiply_two(Sums& row0, Sums& row1, int8x16_t w0, int8x16_t w1,
                                                        const int8x16_t (&a)[2][2]) {
  int16x8_t low0, high0, low1, high1;
  asm volatile(
      "smull %4.8h, %8.8b, %10.8b\n\t"
      "smull2 %5.8h, %8.16b, %10.16b\n\t"
      "smull %6.8h, %8.8b, %12.8b\n\t"
      "smull2 %7.8h, %8.16b, %12.16b\n\t"
      "smlal %4.8h, %9.8b, %11.8b\n\t"
      "smlal2 %5.8h, %9.16b, %11.16b\n\t"
      "smlal %6.8h, %9.8b, %13.8b\n\t"
      "smlal2 %7.8h, %9.16b, %13.16b\n\t"
      "sadalp %0.4s, %4.8h\n\t"
      "sadalp %1.4s, %5.8h\n\t"
      "sadalp %2.4s, %6.8h\n\t"
      "sadalp %3.4s, %7.8h"
      : "+w"(row0.low), "+w"(row0.high), "+w"(row1.low), "+w"(row1.high), "=&w"(low0), "=&w"(high0), "=&w"(low1),
        "=&w"(high1)
      : "w"(w0), "w"(w1), "w"(a[0][0]), "w"(a[0][1]), "w"(a[1][0]), "w"(a[1][1]));
}

// Two groups, from quarters kLane and kLane + 1 of each row's 16 inputs.
template <int kRows, int kLane>
__attribute__((always_inline)) inline void multiply_groups(Sums (&sums)[kRows][kQuads], const int32x4_t (&in)[kRows],
                                                           const int8_t* w) {
  int8x16_t a[kRows][2];
#pragma GCC unroll 2
  for (int r = 0; r < kRows; ++r) {
    a[r][0] = vreinterpretq_s8_s32(vdupq_laneq_s32(in[r], kLane));
    a[r][1] = vreinterpretq_s8_s32(vdupq_laneq_s32(in[r], kLane + 1));
  }
#pragma GCC unroll 4
  for (int q = 0; q < kQuads; q += 2) {
    int8x16_t w0[2], w1[2];
    load_weights(w0[0], w0[1], w, kLane * 64 + q * 16);
    load_weights(w1[0], w1[1], w, kLane * 64 + 64 + q * 16);
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      if constexpr (kRows == 2) {
        multiply_two(sums[0][q + i], sums[1][q + i], w0[i], w1[i], a);
      } else {
        multiply_two(sums[0][q + i], w0[i], w1[i], a[0][0], a[0][1]);
      }
    }
  }
}

// Up to 4 groups of a row, zeros after them.
__attribute__((always_inline)) inline int32x4_t load_groups(const uint8_t* a, uint32_t groups) {
  int32_t in[4] = {};
  __builtin_memcpy(in, a, groups * 4);
  return vld1q_s32(in);
}

template <int kRows>
void multiply_block(const Block& args) {
  const Block block = args;
  Sums sums[kRows][kQuads];
#pragma GCC unroll 2
  for (auto& row : sums) {
#pragma GCC unroll 4
    for (auto& sum : row) sum.low = sum.high = vdupq_n_s32(0);
  }
  const uint8_t* a[kRows];
  for (int r = 0; r < kRows; ++r) a[r] = block.a + r * block.a_stride;
  const int8_t* w = block.w;
  int32x4_t in[kRows];
  uint64_t at = 0;  // bytes of a row
  for (const uint64_t end = block.groups / 4 * 16; at != end; at += 16, w += 256) {
#pragma GCC unroll 2
    for (int r = 0; r < kRows; ++r) in[r] = vreinterpretq_s32_u8(vld1q_u8(a[r] + at));
    multiply_groups<kRows, 0>(sums, in, w);
    multiply_groups<kRows, 2>(sums, in, w);
  }
  const uint32_t rest = block.groups % 4;
  if (rest > 0) {
    // Weights of groups that are not there are zeros.
    alignas(16) int8_t last[256] = {};
    __builtin_memcpy(last, w, rest * 64);
    for (int r = 0; r < kRows; ++r) in[r] = load_groups(a[r] + at, rest);
    multiply_groups<kRows, 0>(sums, in, last);
    if (rest > 2) multiply_groups<kRows, 2>(sums, in, last);
  }
#pragma GCC unroll 2
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int q = 0; q < kQuads; ++q) {
      vst1q_s32(block.c + r * block.c_stride + q * 4, vpaddq_s32(sums[r][q].low, sums[r][q].high));
    }
  }
}

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  for (uint32_t panel = 0; panel < args.panels; ++panel) {
    const int8_t* w = args.w + panel * args.w_panel_stride;
    for (uint32_t row = 0; row < args.rows; row += 2) {
      const Block block = {args.a + row * args.a_stride,
                           args.a_stride,
                           w,
                           args.groups,
                           args.c + row * uint64_t{args.c_stride} + panel * 16,
                           args.c_stride};
      args.rows - row > 1 ? multiply_block<2>(block) : multiply_block<1>(block);
    }
  }
}

}  // namespace heed::neon
