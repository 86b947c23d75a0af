// Int8 products with NEON on 32-bit ARM: 16-bit products, two of them added before they go to 32 bits.
// SPDX-License-Identifier: Apache-2.0
//
// |a| <= 128 and |w| <= 127, so two products are at most 32512 and their sum is exact in 16 bits: vmull and vmlal multiply
// the same inputs of two groups, vpadal adds neighbours to 32 bits. There are 16 registers: a block is one row by one
// panel, 8 sums, each of two inputs of two outputs. In assembly, because GCC 12 runs out of registers otherwise.
#include <arm_neon.h>

#include "kernels/tables.h"

namespace heed::armv7 {
namespace {

constexpr int kPairs = 8;  // of outputs in a panel

// Two groups of 4 outputs: lines x of the first group, y of the second, by inputs a and b.
__attribute__((always_inline)) inline void multiply_two(int32x4_t& sum0, int32x4_t& sum1, int8x8_t x0, int8x8_t y0,
                                                        int8x8_t x1, int8x8_t y1, int8x8_t a, int8x8_t b) {
  int16x8_t product0, product1;
  asm volatile(
      "vmull.s8 %q2, %P4, %P8\n\t"
      "vmull.s8 %q3, %P6, %P8\n\t"
      "vmlal.s8 %q2, %P5, %P9\n\t"
      "vmlal.s8 %q3, %P7, %P9\n\t"
      "vpadal.s16 %q0, %q2\n\t"
      "vpadal.s16 %q1, %q3"
      : "+w"(sum0), "+w"(sum1), "=&w"(product0), "=&w"(product1)
      : "w"(x0), "w"(y0), "w"(x1), "w"(y1), "w"(a), "w"(b));
}

// Two groups of a panel, 64 bytes each: x and y move past them.
__attribute__((always_inline)) inline void multiply_groups(int32x4_t (&sums)[kPairs], const int8_t*& x, const int8_t*& y,
                                                           int8x8_t a, int8x8_t b) {
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half, x += 32, y += 32) {
    // Of 64-bit elements this is 32 bytes in order, in one instruction.
    const int64x1x4_t first = vld4_s64(reinterpret_cast<const int64_t*>(x));
    const int64x1x4_t second = vld4_s64(reinterpret_cast<const int64_t*>(y));
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
      multiply_two(sums[half * 4 + i], sums[half * 4 + i + 1], vreinterpret_s8_s64(first.val[i]),
                   vreinterpret_s8_s64(second.val[i]), vreinterpret_s8_s64(first.val[i + 1]),
                   vreinterpret_s8_s64(second.val[i + 1]), a, b);
    }
  }
}

// 4 inputs, as often as a register holds them.
__attribute__((always_inline)) inline int8x8_t repeat(int32x2_t in, int lane) {
  return vreinterpret_s8_s32(lane == 0 ? vdup_lane_s32(in, 0) : vdup_lane_s32(in, 1));
}

void multiply_row(const uint8_t* a, const int8_t* w, uint32_t groups, int32_t* c) {
  int32x4_t sums[kPairs];
#pragma GCC unroll 8
  for (auto& sum : sums) sum = vdupq_n_s32(0);
  const int8_t* x = w;
  const int8_t* y = w + 64;
  for (uint32_t two = groups / 2; two > 0; --two, a += 8, x += 64, y += 64) {
    const int32x2_t in = vreinterpret_s32_u8(vld1_u8(a));
    multiply_groups(sums, x, y, repeat(in, 0), repeat(in, 1));
  }
  if (groups % 2 != 0) {
    // What the group that is not there would be multiplied by is 0.
    int32_t four;
    __builtin_memcpy(&four, a, sizeof four);
    y = x;
    multiply_groups(sums, x, y, vreinterpret_s8_s32(vdup_n_s32(four)), vdup_n_s8(0));
  }
#pragma GCC unroll 8
  for (int i = 0; i < kPairs; ++i) {
    vst1_s32(c + 2 * i, vpadd_s32(vget_low_s32(sums[i]), vget_high_s32(sums[i])));
  }
}

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  for (uint32_t panel = 0; panel < args.panels; ++panel) {
    for (uint32_t row = 0; row < args.rows; ++row) {
      multiply_row(args.a + row * args.a_stride, args.w + panel * args.w_panel_stride, args.groups,
                   args.c + row * uint64_t{args.c_stride} + panel * 16);
    }
  }
}

}  // namespace heed::armv7
