// Int8 products with the matrix instructions of ARMv8.6: 2 rows by 2 outputs by 8 inputs an instruction.
// SPDX-License-Identifier: Apache-2.0
//
// smmla wants 8 inputs of two rows (or outputs) side by side. Weights lie as groups of 4: two groups are zipped as they
// are loaded. Rows come in such pairs already (MultiplyI8::paired), or are put together as they are loaded. A block is up
// to 6 pairs of rows by half a panel: 24 sums. In assembly, in this order: GCC 12 copies sums between registers otherwise.
#include <arm_neon.h>

#include "kernels/tables.h"

namespace heed::i8mm {
namespace {

constexpr uint32_t kBlockPairs = 6;
constexpr int kQuads = 4;  // pairs of outputs in half a panel

// Pairs of rows by half a panel.
struct Block {
  const uint8_t* a;
  uint64_t a_stride;
  uint32_t rows;    // those that are left: more than the block's, or one less
  uint32_t groups;
  const int8_t* w;  // its half of the first group
  int32_t* c;
  uint64_t c_stride;
};

// Where the next inputs of a pair lie.
struct Paired {
  static constexpr bool kOddGroups = false;
  const uint8_t* at;
  __attribute__((always_inline)) int8x16_t load() {
    int8x16_t in;
    asm volatile("ldr %q0, [%1], #16" : "=w"(in), "+r"(at) : : "memory");
    return in;
  }
};
struct Apart {
  static constexpr bool kOddGroups = true;
  const uint8_t* first;
  const uint8_t* second;
  __attribute__((always_inline)) int8x16_t load() {
    int8x16_t in;
    asm volatile("ldr %d0, [%1], #8\n\tld1 {%0.d}[1], [%2], #8" : "=&w"(in), "+r"(first), "+r"(second) : : "memory");
    return in;
  }
  // The last group of an odd number.
  __attribute__((always_inline)) int8x16_t load_group() const {
    int32_t in[4] = {};
    __builtin_memcpy(in, first, 4);
    __builtin_memcpy(in + 2, second, 4);
    return vreinterpretq_s8_s32(vld1q_s32(in));
  }
};

__attribute__((always_inline)) inline void load_weights(int8x16_t& w0, int8x16_t& w1, const int8_t* w, int offset) {
  asm volatile("ldp %q0, %q1, [%2, %3]" : "=&w"(w0), "=&w"(w1) : "r"(w), "i"(offset) : "memory");
}

// Two groups of 4 outputs, x and y, to two pairs of outputs.
__attribute__((always_inline)) inline void zip(int8x16_t& x, int8x16_t& y) {
  const int32x4_t first = vreinterpretq_s32_s8(x), second = vreinterpretq_s32_s8(y);
  x = vreinterpretq_s8_s32(vzip1q_s32(first, second));
  y = vreinterpretq_s8_s32(vzip2q_s32(first, second));
}

__attribute__((always_inline)) inline void multiply(int32x4_t (&sums)[kQuads], int8x16_t in, const int8x16_t (&w)[kQuads]) {
#pragma GCC unroll 4
  for (int q = 0; q < kQuads; ++q) asm volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(sums[q]) : "w"(in), "w"(w[q]));
}

__attribute__((always_inline)) inline void store_row(int64x2_t x, int64x2_t y, int32_t* c) {
  asm volatile("stp %q0, %q1, [%2]" : : "w"(x), "w"(y), "r"(c) : "memory");
}

// 8 inputs of a block. The inputs of a pair are loaded while those of the one before are multiplied.
template <int kPairs, class Pair>
__attribute__((always_inline)) inline void multiply_octet(int32x4_t (&sums)[kPairs][kQuads], Pair (&pairs)[kPairs],
                                                          const int8_t* w, int offset) {
  int8x16_t out[kQuads], in[2];
  load_weights(out[0], out[2], w, offset);
  load_weights(out[1], out[3], w, offset + 64);
  in[0] = pairs[0].load();
  zip(out[0], out[1]);
  zip(out[2], out[3]);
#pragma GCC unroll 6
  for (int p = 0; p < kPairs; ++p) {
    if (p + 1 < kPairs) in[(p + 1) % 2] = pairs[p + 1].load();
    multiply(sums[p], in[p % 2], out);
  }
}

// The sums are row 0 by outputs 0 and 1, row 1 by the same; so for all pairs of outputs.
template <int kPairs>
__attribute__((always_inline)) inline void store_block(const Block& block, const int32x4_t (&sums)[kPairs][kQuads]) {
  int32_t* c = block.c;
#pragma GCC unroll 6
  for (int p = 0; p < kPairs; ++p, c += 2 * block.c_stride) {
    int64x2_t pair[kQuads];
#pragma GCC unroll 4
    for (int q = 0; q < kQuads; ++q) pair[q] = vreinterpretq_s64_s32(sums[p][q]);
    store_row(vzip1q_s64(pair[0], pair[1]), vzip1q_s64(pair[2], pair[3]), c);
    if (2 * p + 1u < block.rows) store_row(vzip2q_s64(pair[0], pair[1]), vzip2q_s64(pair[2], pair[3]), c + block.c_stride);
  }
}

template <int kPairs, class Pair>
__attribute__((always_inline)) inline void multiply_pairs(const Block& args, Pair (&pairs)[kPairs]) {
  const Block block = args;
  int32x4_t sums[kPairs][kQuads];
#pragma GCC unroll 6
  for (auto& pair : sums) {
#pragma GCC unroll 4
    for (auto& sum : pair) sum = vdupq_n_s32(0);
  }
  const int8_t* w = block.w;
  for (uint32_t two = block.groups / 4; two > 0; --two, w += 256) {
    multiply_octet<kPairs>(sums, pairs, w, 0);
    multiply_octet<kPairs>(sums, pairs, w, 128);
  }
  if (block.groups / 2 % 2 != 0) {
    multiply_octet<kPairs>(sums, pairs, w, 0);
    w += 128;
  }
  if constexpr (Pair::kOddGroups) {
    if (block.groups % 2 != 0) {
      int8x16_t out[kQuads] = {vld1q_s8(w), vdupq_n_s8(0), vld1q_s8(w + 16), vdupq_n_s8(0)};
      zip(out[0], out[1]);
      zip(out[2], out[3]);
#pragma GCC unroll 6
      for (int p = 0; p < kPairs; ++p) multiply(sums[p], pairs[p].load_group(), out);
    }
  }
  store_block<kPairs>(block, sums);
}

template <int kPairs>
void multiply_paired(const Block& block) {
  Paired pairs[kPairs];
#pragma GCC unroll 6
  for (int p = 0; p < kPairs; ++p) pairs[p] = {block.a + 2 * p * block.a_stride};
  multiply_pairs<kPairs>(block, pairs);
}

// An odd last row is its own neighbour.
template <int kPairs>
void multiply_apart(const Block& block) {
  Apart pairs[kPairs];
#pragma GCC unroll 6
  for (int p = 0; p < kPairs; ++p) {
    const uint8_t* first = block.a + 2 * p * block.a_stride;
    pairs[p] = {first, 2 * p + 1u < block.rows ? first + block.a_stride : first};
  }
  multiply_pairs<kPairs>(block, pairs);
}

using BlockFunction = void (*)(const Block& block);
constexpr BlockFunction kPaired[kBlockPairs] = {multiply_paired<1>, multiply_paired<2>, multiply_paired<3>,
                                                multiply_paired<4>, multiply_paired<5>, multiply_paired<6>};
constexpr BlockFunction kApart[kBlockPairs] = {multiply_apart<1>, multiply_apart<2>, multiply_apart<3>,
                                               multiply_apart<4>, multiply_apart<5>, multiply_apart<6>};

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  if (args.rows == 1) return dotprod::multiply_i8(args);
  const BlockFunction* blocks = args.paired ? kPaired : kApart;
  const uint32_t all = (args.rows + 1) / 2, count = (all + kBlockPairs - 1) / kBlockPairs;
  Block block = {args.a, args.a_stride, 0, args.groups, args.w, args.c, args.c_stride};
  for (uint32_t half = 0; half < 2 * args.panels; ++half) {
    block.a = args.a;
    block.w = args.w + half / 2 * args.w_panel_stride + half % 2 * 32;
    block.c = args.c + half * 8;
    uint32_t left = all;
    block.rows = args.rows;
    for (uint32_t i = count; i > 0; --i) {
      const uint32_t pairs = left / i;  // of nearly the same size
      blocks[pairs - 1](block);
      block.a += 2 * pairs * args.a_stride;
      block.c += 2 * pairs * block.c_stride;
      block.rows -= 2 * pairs;
      left -= pairs;
    }
  }
}

}  // namespace heed::i8mm
