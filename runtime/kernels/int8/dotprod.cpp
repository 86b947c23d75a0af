// Int8 products with the dot product instructions of ARMv8.2: 16 products of signed bytes an instruction.
// SPDX-License-Identifier: Apache-2.0
//
// sdot by lane takes a panel's 4 outputs by 4 inputs and four inputs of a row that lie in a quarter of a register. So 16
// inputs of each row are loaded at a time, and weights a line of 8 outputs ahead of their use. A block is up to 5 rows by
// one panel: 20 sums, 5 rows of inputs and 4 registers of weights of 32. In assembly, in this order: GCC 12 loads all
// weights first, runs out of registers, and an in-order core would wait for each load.
#include "kernels/int8/aarch64.h"

namespace heed::dotprod {
namespace {

using aarch64::load_weights;

constexpr uint32_t kBlockRows = 5;
constexpr int kQuads = 4;  // of outputs in a panel

// Rows of a tile by one panel.
struct Block {
  const uint8_t* a;
  uint64_t a_stride;
  const int8_t* w;
  uint32_t groups;
  int32_t* c;
  uint64_t c_stride;
};

__attribute__((always_inline)) inline void load_inputs(int8x16_t& in, const uint8_t* a, uint64_t at) {
  asm volatile("ldr %q0, [%1, %2]" : "=w"(in) : "r"(a), "r"(at) : "memory");
}

__attribute__((always_inline)) inline void store_sums(int32x4_t x, int32x4_t y, int32_t* c, int offset) {
  asm volatile("stp %q0, %q1, [%2, %3]" : : "w"(x), "w"(y), "r"(c), "i"(offset) : "memory");
}

// 4 outputs of a row += weights by the inputs in quarter `lane`.
__attribute__((always_inline)) inline void multiply(int32x4_t& sum, int8x16_t w, int8x16_t in, int lane) {
  asm volatile("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sum) : "w"(w), "w"(in), "i"(lane));
}

// The line of outputs 0 .. 7 of a group, or that of 8 .. 15.
template <int kRows, int kLane>
__attribute__((always_inline)) inline void multiply_line(int32x4_t (&sums)[kRows][kQuads], const int8x16_t (&in)[kRows],
                                                         int quad, int8x16_t w0, int8x16_t w1) {
#pragma GCC unroll 5
  for (int r = 0; r < kRows; ++r) {
    multiply(sums[r][quad], w0, in[r], kLane);
    multiply(sums[r][quad + 1], w1, in[r], kLane);
  }
}

// Group kLane of four, weights from `kFirst` bytes on; w0 and w1 are its first line and become that of the next.
template <int kRows, int kLane, int kFirst, bool kLast>
__attribute__((always_inline)) inline void multiply_group(int32x4_t (&sums)[kRows][kQuads], const int8x16_t (&in)[kRows],
                                                          int8x16_t& w0, int8x16_t& w1, const int8_t* w) {
  int8x16_t w2, w3;
  load_weights(w2, w3, w, kFirst + kLane * 64 + 32);
  multiply_line<kRows, kLane>(sums, in, 0, w0, w1);
  if constexpr (!kLast) load_weights(w0, w1, w, kFirst + kLane * 64 + 64);
  multiply_line<kRows, kLane>(sums, in, 2, w2, w3);
}

// Four groups, `kFour` fours on.
template <int kRows, int kFour>
__attribute__((always_inline)) inline void multiply_four(int32x4_t (&sums)[kRows][kQuads], const uint8_t* const (&a)[kRows],
                                                         uint64_t at, const int8_t* w) {
  constexpr int kFirst = kFour * 256;
  int8x16_t in[kRows], w0, w1;
  load_weights(w0, w1, w, kFirst);
#pragma GCC unroll 5
  for (int r = 0; r < kRows; ++r) load_inputs(in[r], a[r], at);
  multiply_group<kRows, 0, kFirst, false>(sums, in, w0, w1, w);
  multiply_group<kRows, 1, kFirst, false>(sums, in, w0, w1, w);
  multiply_group<kRows, 2, kFirst, false>(sums, in, w0, w1, w);
  multiply_group<kRows, 3, kFirst, true>(sums, in, w0, w1, w);
}

template <int kRows>
void multiply_block(const Block& args) {
  const Block block = args;
  int32x4_t sums[kRows][kQuads];
#pragma GCC unroll 5
  for (auto& row : sums) {
#pragma GCC unroll 4
    for (auto& sum : row) sum = vdupq_n_s32(0);
  }
  const uint8_t* a[kRows];
#pragma GCC unroll 5
  for (int r = 0; r < kRows; ++r) a[r] = block.a + r * block.a_stride;
  const int8_t* w = block.w;
  uint64_t at = 0;  // bytes of a row
  const uint64_t fours = block.groups / 4 * uint64_t{16};
  for (const uint64_t end = fours / 64 * 64; at != end; at += 64, w += 1024) {
    multiply_four<kRows, 0>(sums, a, at, w);
    multiply_four<kRows, 1>(sums, a, at + 16, w);
    multiply_four<kRows, 2>(sums, a, at + 32, w);
    multiply_four<kRows, 3>(sums, a, at + 48, w);
  }
  for (; at != fours; at += 16, w += 256) multiply_four<kRows, 0>(sums, a, at, w);
  for (const uint64_t end = block.groups * uint64_t{4}; at != end; at += 4, w += 64) {
    int8x16_t in[kRows], w0, w1;
    load_weights(w0, w1, w, 0);
#pragma GCC unroll 5
    for (int r = 0; r < kRows; ++r) {
      int32_t four;
      __builtin_memcpy(&four, a[r] + at, sizeof four);
      in[r] = vreinterpretq_s8_s32(vdupq_n_s32(four));
    }
    multiply_group<kRows, 0, 0, true>(sums, in, w0, w1, w);
  }
  int32_t* c = block.c;
#pragma GCC unroll 5
  for (int r = 0; r < kRows; ++r, c += block.c_stride) {
    store_sums(sums[r][0], sums[r][1], c, 0);
    store_sums(sums[r][2], sums[r][3], c, 32);
  }
}

using BlockFunction = void (*)(const Block& block);
constexpr BlockFunction kBlocks[kBlockRows] = {multiply_block<1>, multiply_block<2>, multiply_block<3>,
                                               multiply_block<4>, multiply_block<5>};

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  const uint32_t blocks = (args.rows + kBlockRows - 1) / kBlockRows;
  Block block = {args.a, args.a_stride, args.w, args.groups, args.c, args.c_stride};
  for (uint32_t panel = 0; panel < args.panels; ++panel, block.w += args.w_panel_stride) {
    block.a = args.a;
    block.c = args.c + panel * 16;
    for (uint32_t i = blocks, left = args.rows; i > 0; --i) {
      const uint32_t rows = left / i;  // of nearly the same size
      kBlocks[rows - 1](block);
      block.a += rows * args.a_stride;
      block.c += rows * block.c_stride;
      left -= rows;
    }
  }
}

}  // namespace heed::dotprod
