// Int8 products with the matrix instructions of ARMv8.6: 2 rows by 2 outputs by 8 inputs an instruction.
// SPDX-License-Identifier: Apache-2.0
//
// smmla wants 8 inputs of two rows (or outputs) side by side. Weights lie as groups of 4: two groups are zipped as they
// are loaded. Rows come in such pairs already, two after each
// other (MultiplyI8::woven), or are put together as they are loaded. A block is up
// to 6 pairs of rows by half a panel: 24 sums. In assembly, in this order: GCC 12 copies sums between registers otherwise.
#include "kernels/int8/aarch64.h"

namespace heed::i8mm {
namespace {

using aarch64::load_weights;

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

// Where the next inputs of four rows lie: of two pairs.
struct Woven {
  static constexpr bool kOddGroups = false;
  const uint8_t* at;
  __attribute__((always_inline)) void load(int8x16_t& first, int8x16_t& second, int octet) const {
    asm volatile("ldp %q0, %q1, [%2, %3]" : "=&w"(first), "=&w"(second) : "r"(at), "i"(octet * 32) : "memory");
  }
  __attribute__((always_inline)) void advance(int octets) { at += octets * 32; }
};
// Where those of one pair lie.
struct Apart {
  static constexpr bool kOddGroups = true;
  const uint8_t* first;
  const uint8_t* second;
  __attribute__((always_inline)) int8x16_t load() {
    int8x16_t in;
    asm volatile("ldr %d0, [%1], #8\n\tld1 {%0.d}[1], [%2], #8" : "=&w"(in), "+r"(first), "+r"(second) : : "memory");
    return in;
  }
  __attribute__((always_inline)) void advance(int) {}
  // The last group of an odd number.
  __attribute__((always_inline)) int8x16_t load_group() const {
    int32_t in[4] = {};
    __builtin_memcpy(in, first, 4);
    __builtin_memcpy(in + 2, second, 4);
    return vreinterpretq_s8_s32(vld1q_s32(in));
  }
};

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

// 8 inputs of a block. Inputs are loaded while those before them are multiplied.
template <int kPairs>
__attribute__((always_inline)) inline void multiply_inputs(int32x4_t (&sums)[kPairs][kQuads], Apart (&pairs)[kPairs],
                                                           const int8x16_t (&out)[kQuads], int) {
  int8x16_t in[2];
  in[0] = pairs[0].load();
#pragma GCC unroll 6
  for (int p = 0; p < kPairs; ++p) {
    if (p + 1 < kPairs) in[(p + 1) % 2] = pairs[p + 1].load();
    multiply(sums[p], in[p % 2], out);
  }
}

template <int kPairs>
__attribute__((always_inline)) inline void multiply_inputs(int32x4_t (&sums)[kPairs][kQuads], Woven (&fours)[kPairs / 2],
                                                           const int8x16_t (&out)[kQuads], int octet) {
#pragma GCC unroll 3
  for (int f = 0; f < kPairs / 2; ++f) {
    int8x16_t first, second;
    fours[f].load(first, second, octet);
    multiply(sums[2 * f], first, out);
    multiply(sums[2 * f + 1], second, out);
  }
}

template <int kPairs, class Rows>
__attribute__((always_inline)) inline void multiply_octet(int32x4_t (&sums)[kPairs][kQuads], Rows& rows, const int8_t* w,
                                                          int octet) {
  int8x16_t out[kQuads];
  load_weights(out[0], out[2], w, octet * 128);
  load_weights(out[1], out[3], w, octet * 128 + 64);
  zip(out[0], out[1]);
  zip(out[2], out[3]);
  multiply_inputs<kPairs>(sums, rows, out, octet);
}

__attribute__((always_inline)) inline void store_row(int64x2_t x, int64x2_t y, int32_t* c) {
  asm volatile("stp %q0, %q1, [%2]" : : "w"(x), "w"(y), "r"(c) : "memory");
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

template <int kPairs, class Rows, int kRows>
__attribute__((always_inline)) inline void multiply_rows(const Block& args, Rows (&rows)[kRows]) {
  const Block block = args;
  int32x4_t sums[kPairs][kQuads];
#pragma GCC unroll 6
  for (auto& pair : sums) {
#pragma GCC unroll 4
    for (auto& sum : pair) sum = vdupq_n_s32(0);
  }
  const int8_t* w = block.w;
  uint32_t octets = block.groups / 2;
  for (; octets >= 4; octets -= 4, w += 512) {
    multiply_octet<kPairs>(sums, rows, w, 0);
    multiply_octet<kPairs>(sums, rows, w, 1);
    multiply_octet<kPairs>(sums, rows, w, 2);
    multiply_octet<kPairs>(sums, rows, w, 3);
#pragma GCC unroll 6
    for (auto& some : rows) some.advance(4);
  }
  for (; octets > 0; --octets, w += 128) {
    multiply_octet<kPairs>(sums, rows, w, 0);
#pragma GCC unroll 6
    for (auto& some : rows) some.advance(1);
  }
  if constexpr (Rows::kOddGroups) {
    if (block.groups % 2 != 0) {
      int8x16_t out[kQuads] = {vld1q_s8(w), vdupq_n_s8(0), vld1q_s8(w + 16), vdupq_n_s8(0)};
      zip(out[0], out[1]);
      zip(out[2], out[3]);
#pragma GCC unroll 6
      for (int p = 0; p < kPairs; ++p) multiply(sums[p], rows[p].load_group(), out);
    }
  }
  store_block<kPairs>(block, sums);
}

template <int kPairs>
void multiply_woven(const Block& block) {
  Woven fours[kPairs / 2];
#pragma GCC unroll 3
  for (int f = 0; f < kPairs / 2; ++f) fours[f] = {block.a + 4 * f * block.a_stride};
  multiply_rows<kPairs>(block, fours);
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
  multiply_rows<kPairs>(block, pairs);
}

using BlockFunction = void (*)(const Block& block);
constexpr BlockFunction kWoven[kBlockPairs / 2] = {multiply_woven<2>, multiply_woven<4>, multiply_woven<6>};
constexpr BlockFunction kApart[kBlockPairs] = {multiply_apart<1>, multiply_apart<2>, multiply_apart<3>,
                                               multiply_apart<4>, multiply_apart<5>, multiply_apart<6>};

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  if (args.rows == 1) return dotprod::multiply_i8(args);
  // A unit is four rows that are woven, or a pair.
  const BlockFunction* blocks = args.woven ? kWoven : kApart;
  const uint32_t unit_rows = args.woven ? 4 : 2, most = args.woven ? kBlockPairs / 2 : kBlockPairs;
  const uint32_t units = (args.rows + unit_rows - 1) / unit_rows, count = (units + most - 1) / most;
  Block block = {args.a, args.a_stride, 0, args.groups, args.w, args.c, args.c_stride};
  for (uint32_t half = 0; half < 2 * args.panels; ++half) {
    block.a = args.a;
    block.w = args.w + half / 2 * args.w_panel_stride + half % 2 * 32;
    block.c = args.c + half * 8;
    block.rows = args.rows;
    for (uint32_t i = count, left = units; i > 0; --i) {
      const uint32_t some = (left + i - 1) / i;  // of nearly the same size
      blocks[some - 1](block);
      const uint32_t rows = some * unit_rows;
      block.a += rows * args.a_stride;
      block.c += rows * block.c_stride;
      block.rows -= rows;
      left -= some;
    }
  }
}

}  // namespace heed::i8mm
