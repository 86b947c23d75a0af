// Int8 products with the dot product instructions of ARMv8.2: 16 products of signed bytes an instruction.
// SPDX-License-Identifier: Apache-2.0
//
// sdot by lane takes a panel's 4 outputs by 4 inputs and four inputs of a row that lie in a quarter of a register. So 16
// inputs of each row are loaded at a time, as soon as those before them have been used, and weights a line of 8 outputs
// ahead. A block is up to 3 rows by one panel, or up to 8 by half of one: 16 sums, 8 rows of inputs and 4 registers of
// weights. Few loads, and each apart from the next: an in-order core does little beside a load of two registers. In
// assembly, in this order: GCC 12 loads all weights first, runs out of registers, and an in-order core would wait for each.
#include "kernels/int8/aarch64.h"

namespace heed::dotprod {
namespace {

using aarch64::load_weights;

constexpr uint32_t kPanelRows = 3;  // most rows of a block that is a whole panel
constexpr uint32_t kBlockRows = 8;  // and of half a one

// What all blocks of a panel, or of half of it, share.
struct Shared {
  uint64_t a_stride;
  uint64_t c_stride;
  const int8_t* w;
  uint32_t groups;
};

// kRows rows by kLines lines of 8 outputs.
template <int kRows, int kLines>
struct Product {
  // Of a group's 64 bytes of weights a half needs 32.
  static constexpr int kLineBytes = 64 / kLines;
  static constexpr int kSteps = 4 * kLines;  // lines of four groups

  int32x4_t sums[kRows][2 * kLines];
  int8x16_t in[kRows];
  int8x16_t w[2][2];  // lines take turns
  const uint8_t* a[kRows];

  __attribute__((always_inline)) Product(const uint8_t* first_row, uint64_t a_stride) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      a[r] = first_row + r * a_stride;
#pragma GCC unroll 4
      for (auto& sum : sums[r]) sum = vdupq_n_s32(0);
    }
  }

  __attribute__((always_inline)) void load_inputs(int r, int64_t at) {
    asm volatile("ldr %q0, [%1, %2]" : "=w"(in[r]) : "r"(a[r]), "r"(at) : "memory");
  }

  // 4 outputs of row r += weights by the inputs in quarter `lane`.
  __attribute__((always_inline)) void multiply(int r, int quad, int turn, int lane) {
    asm volatile("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sums[r][quad]) : "w"(w[turn][quad % 2]), "w"(in[r]), "i"(lane));
  }

  // Line kStep of the four groups number kFour, `next_line` being the second of all. What comes next is loaded meanwhile; after
  // the last line, unless kLast, the inputs at `next`.
  template <int kFour, int kStep, bool kLast>
  __attribute__((always_inline)) void multiply_line(const int8_t* next_line, int64_t next) {
    constexpr bool kEnd = kStep + 1 == kSteps;
    if constexpr (!kEnd || !kLast) {
      load_weights(w[(kStep + 1) % 2][0], w[(kStep + 1) % 2][1], next_line, kFour * 256 + kStep * kLineBytes);
    }
    // An in-order core cannot load again at once: the inputs of the first rows wait.
    constexpr int kLag = kRows >= 4 ? 2 : 0;
    constexpr bool kLoad = kEnd && !kLast;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      multiply(r, 2 * (kStep % kLines), kStep % 2, kStep / kLines);
      if (kLoad && r >= kLag && r < 2 * kLag) load_inputs(r - kLag, next);
      multiply(r, 2 * (kStep % kLines) + 1, kStep % 2, kStep / kLines);
      if (kLoad && r >= kLag) load_inputs(r, next);
    }
    if constexpr (!kEnd) multiply_line<kFour, kStep + 1, kLast>(next_line, next);
  }

  // Fours of groups, at least one.
  __attribute__((always_inline)) void multiply_fours(const int8_t* weights, uint32_t fours) {
    load_weights(w[0][0], w[0][1], weights, 0);
    const int8_t* next_line = weights + kLineBytes;
    // Bytes from `a` to the next inputs. Counting up to 0 needs no comparison.
    int64_t next = -int64_t{(fours - 1) / 4 * 64}, next1 = next + 16, next2 = next + 32, next3 = next + 48;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      load_inputs(r, 0);
      a[r] += 16 - next;
    }
    for (; next != 0; next += 64) {
      multiply_line<0, 0, false>(next_line, next);
      multiply_line<1, 0, false>(next_line, next1);
      multiply_line<2, 0, false>(next_line, next2);
      multiply_line<3, 0, false>(next_line, next3);
      // Side by side, so that an in-order core takes two at a time.
      asm volatile("add %0, %0, #64\n\tadd %1, %1, #64\n\tadd %2, %2, #64\n\tadd %3, %3, #1024"
                   : "+r"(next1), "+r"(next2), "+r"(next3), "+r"(next_line));
    }
    const int64_t end = (fours - 1) % 4 * 16;
#pragma GCC unroll 1
    for (; next != end; next += 16, next_line += 256) multiply_line<0, 0, false>(next_line, next);
    multiply_line<0, 0, true>(next_line, next);
  }

  // One group, at `at` in the first row.
  __attribute__((always_inline)) void multiply_group(const int8_t* weights, const uint8_t* at, uint64_t stride) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r, at += stride) {
      int32_t four;
      __builtin_memcpy(&four, at, sizeof four);
      in[r] = vreinterpretq_s8_s32(vdupq_n_s32(four));
    }
#pragma GCC unroll 2
    for (int line = 0; line < kLines; ++line) {
      load_weights(w[0][0], w[0][1], weights + line * 32, 0);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        multiply(r, 2 * line, 0, 0);
        multiply(r, 2 * line + 1, 0, 0);
      }
    }
  }

  __attribute__((always_inline)) void store(int32_t* c, uint64_t c_stride) const {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r, c += c_stride) {
#pragma GCC unroll 2
      for (int line = 0; line < kLines; ++line) {
        asm volatile("stp %q0, %q1, [%2]" : : "w"(sums[r][2 * line]), "w"(sums[r][2 * line + 1]), "r"(c + line * 8) : "memory");
      }
    }
  }
};

template <int kRows, int kLines>
void multiply_block(const Shared& shared, const uint8_t* a, int32_t* c) {
  Product<kRows, kLines> product(a, shared.a_stride);
  const uint32_t fours = shared.groups / 4;
  if (fours > 0) product.multiply_fours(shared.w, fours);
#pragma GCC unroll 1
  for (uint32_t g = fours * 4; g < shared.groups; ++g) {
    product.multiply_group(shared.w + g * uint64_t{64}, a + g * uint64_t{4}, shared.a_stride);
  }
  product.store(c, shared.c_stride);
}

using BlockFunction = void (*)(const Shared& shared, const uint8_t* a, int32_t* c);
constexpr BlockFunction kBlocks[kBlockRows] = {multiply_block<1, 2>, multiply_block<2, 2>, multiply_block<3, 2>,
                                               multiply_block<4, 1>, multiply_block<5, 1>, multiply_block<6, 1>,
                                               multiply_block<7, 1>, multiply_block<8, 1>};

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  // Blocks are of nearly the same size, smaller ones first: all are whole panels, or all halves.
  const uint32_t blocks = (args.rows + kBlockRows - 1) / kBlockRows, lines = args.rows <= kPanelRows ? 2 : 1;
  const uint32_t least = args.rows / blocks, smaller = blocks - args.rows % blocks;
  Shared shared = {args.a_stride, args.c_stride, args.w, args.groups};
  for (uint32_t line = 0; line < 2 * args.panels; line += lines) {
    shared.w = args.w + line / 2 * args.w_panel_stride + line % 2 * 32;
    const uint8_t* a = args.a;
    int32_t* c = args.c + line * 8;
    for (uint32_t i = 0; i < blocks; ++i) {
      const uint32_t rows = least + (i >= smaller);
      kBlocks[rows - 1](shared, a, c);
      a += rows * shared.a_stride;
      c += rows * shared.c_stride;
    }
  }
}

}  // namespace heed::dotprod
