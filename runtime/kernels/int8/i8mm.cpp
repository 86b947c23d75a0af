// Int8 products with the matrix instructions of ARMv8.6: 2 rows by 2 outputs by 8 inputs an instruction.
// SPDX-License-Identifier: Apache-2.0
//
// smmla wants 8 inputs of each row and output side by side. Rows lie so but for their order, weights as groups of 4; both
// are put in order in scratch once: inputs serve all outputs of a tile, weights all its rows. Then a block of 8 rows by
// 8 outputs (16 sums) loads 8 registers for 16 instructions.
#include <arm_neon.h>

#include "kernels/tables.h"

namespace heed::i8mm {
namespace {

constexpr uint32_t kMaxRows = 32;
constexpr uint32_t kBlockPairs = 4;       // pairs of rows in a block
constexpr uint32_t kHalf = 8;             // outputs in half a panel
constexpr uint32_t kOutputPairs = kHalf / 2;
static_assert(kOutputPairs == kBlockPairs, "octets of rows and outputs are as far apart");
constexpr uint32_t kChunkOctets = 64;     // groups of 8 inputs worked on at a time

// Scratch of a chunk. A pair is 16 bytes: 8 inputs of one row (or output), then of the next.
struct Chunk {
  uint32_t octets;
  bool first;  // c is set, otherwise added to
  alignas(16) int8_t rows[kMaxRows / 2 / kBlockPairs][kChunkOctets][kBlockPairs][16];  // octets in twos: kChunkOctets is even
  alignas(16) int8_t outputs[kChunkOctets][kOutputPairs][16];
};

// 16 inputs of two rows to two pairs, a block's octet apart.
__attribute__((always_inline)) inline void order_pair(int8x16_t a, int8x16_t b, int8_t* out) {
  const int64x2_t x = vreinterpretq_s64_s8(a), y = vreinterpretq_s64_s8(b);
  vst1q_s8(out, vreinterpretq_s8_s64(vzip1q_s64(x, y)));
  vst1q_s8(out + kBlockPairs * 16, vreinterpretq_s8_s64(vzip2q_s64(x, y)));
}

// Up to 15 bytes, zeros after them.
int8x16_t load_part(const uint8_t* from, uint32_t bytes) {
  int8_t all[16] = {};
  __builtin_memcpy(all, from, bytes);
  return vld1q_s8(all);
}

// Pairs of rows into their blocks. An odd last row is its own neighbour.
void order_rows(const MultiplyI8& args, uint32_t first_group, uint32_t groups, Chunk& chunk) {
  const uint32_t bytes = groups * 4, whole = bytes / 16 * 16;
  for (uint32_t row = 0; row < args.rows; row += 2) {
    const uint8_t* a = args.a + row * args.a_stride + first_group * uint64_t{4};
    const uint8_t* b = row + 1 < args.rows ? a + args.a_stride : a;
    int8_t* out = chunk.rows[row / 2 / kBlockPairs][0][row / 2 % kBlockPairs];
#pragma GCC unroll 2
    for (uint32_t i = 0; i < whole; i += 16, out += 2 * kBlockPairs * 16) {
      order_pair(vreinterpretq_s8_u8(vld1q_u8(a + i)), vreinterpretq_s8_u8(vld1q_u8(b + i)), out);
    }
    if (whole < bytes) order_pair(load_part(a + whole, bytes - whole), load_part(b + whole, bytes - whole), out);
  }
}

// 8 inputs of 8 outputs, in two groups, to 4 pairs.
__attribute__((always_inline)) inline void order_octet(const int8x16_t (&x)[2], const int8x16_t (&y)[2], int8_t* out) {
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const int32x4_t first = vreinterpretq_s32_s8(x[i]), second = vreinterpretq_s32_s8(y[i]);
    vst1q_s8(out + i * 32, vreinterpretq_s8_s32(vzip1q_s32(first, second)));
    vst1q_s8(out + i * 32 + 16, vreinterpretq_s8_s32(vzip2q_s32(first, second)));
  }
}

// Half a panel; w points at its part of the first group.
void order_outputs(const int8_t* w, uint32_t groups, Chunk& chunk) {
  int8_t* out = chunk.outputs[0][0];
  const int8x16_t none = vdupq_n_s8(0);
#pragma GCC unroll 2
  for (uint32_t octet = groups / 2; octet > 0; --octet, w += 128, out += kOutputPairs * 16) {
    order_octet({vld1q_s8(w), vld1q_s8(w + 16)}, {vld1q_s8(w + 64), vld1q_s8(w + 80)}, out);
  }
  if (groups % 2 != 0) order_octet({vld1q_s8(w), vld1q_s8(w + 16)}, {none, none}, out);
}

// Adds a pair of rows by 4 outputs to c, or sets it. The sums are row 0 by outputs 0 and 1, row 1 by the same.
__attribute__((always_inline)) inline void store_sums(int32x4_t left, int32x4_t right, bool first, int32_t* row0,
                                                      int32_t* row1) {
  const int64x2_t l = vreinterpretq_s64_s32(left), r = vreinterpretq_s64_s32(right);
  const int32x4_t upper = vreinterpretq_s32_s64(vzip1q_s64(l, r)), lower = vreinterpretq_s32_s64(vzip2q_s64(l, r));
  vst1q_s32(row0, first ? upper : vaddq_s32(upper, vld1q_s32(row0)));
  if (row1) vst1q_s32(row1, first ? lower : vaddq_s32(lower, vld1q_s32(row1)));
}

__attribute__((always_inline)) inline void load_pairs(int8x16_t& x, int8x16_t& y, const int8_t* from, int offset) {
  asm volatile("ldp %q0, %q1, [%2, %3]" : "=&w"(x), "=&w"(y) : "r"(from), "i"(offset) : "memory");
}

// 8 inputs of a block, `kOctet` places on. In assembly, because GCC 12 copies sums between registers otherwise.
template <int kPairs, int kOctet>
__attribute__((always_inline)) inline void multiply_octet(int32x4_t (&sums)[kPairs][kOutputPairs], const int8_t* in,
                                                          const int8_t* out) {
  constexpr int kAt = kOctet * kBlockPairs * 16;
  int8x16_t a[4], w[kOutputPairs];
  load_pairs(w[0], w[1], out, kAt);
  load_pairs(a[0], a[1], in, kAt);
  load_pairs(w[2], w[3], out, kAt + 32);
  if constexpr (kPairs > 2) load_pairs(a[2], a[3], in, kAt + 32);
#pragma GCC unroll 4
  for (int p = 0; p < kPairs; ++p) {
#pragma GCC unroll 4
    for (uint32_t q = 0; q < kOutputPairs; ++q) {
      asm volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(sums[p][q]) : "w"(a[p]), "w"(w[q]));
    }
  }
}

// Block number `index` by half a panel. `rows` is 2 * kPairs, or one less.
template <int kPairs>
void multiply_block(const Chunk& chunk, uint32_t index, uint32_t rows, int32_t* c, uint64_t c_stride) {
  int32x4_t sums[kPairs][kOutputPairs];
#pragma GCC unroll 4
  for (auto& pair : sums) {
#pragma GCC unroll 4
    for (auto& sum : pair) sum = vdupq_n_s32(0);
  }
  const int8_t* in = chunk.rows[index][0][0];
  const int8_t* out = chunk.outputs[0][0];
  uint32_t left = chunk.octets;
  for (; left >= 2; left -= 2, in += 2 * kBlockPairs * 16, out += 2 * kOutputPairs * 16) {
    multiply_octet<kPairs, 0>(sums, in, out);
    multiply_octet<kPairs, 1>(sums, in, out);
  }
  if (left > 0) multiply_octet<kPairs, 0>(sums, in, out);
#pragma GCC unroll 4
  for (int p = 0; p < kPairs; ++p) {
    int32_t* row0 = c + 2 * p * c_stride;
    int32_t* row1 = 2 * p + 1u < rows ? row0 + c_stride : nullptr;
    store_sums(sums[p][0], sums[p][1], chunk.first, row0, row1);
    store_sums(sums[p][2], sums[p][3], chunk.first, row0 + 4, row1 ? row1 + 4 : nullptr);
  }
}

using BlockFunction = void (*)(const Chunk& chunk, uint32_t index, uint32_t rows, int32_t* c, uint64_t c_stride);
constexpr BlockFunction kBlocks[kBlockPairs] = {multiply_block<1>, multiply_block<2>, multiply_block<3>,
                                                multiply_block<4>};

void multiply_half(const MultiplyI8& args, const Chunk& chunk, int32_t* c) {
  constexpr uint32_t kBlockRows = 2 * kBlockPairs;
  for (uint32_t row = 0; row < args.rows; row += kBlockRows) {
    const uint32_t rows = args.rows - row < kBlockRows ? args.rows - row : kBlockRows;
    kBlocks[(rows + 1) / 2 - 1](chunk, row / kBlockRows, rows, c + row * uint64_t{args.c_stride}, args.c_stride);
  }
}

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  if (args.rows == 1) return dotprod::multiply_i8(args);
  Chunk chunk;
  for (uint32_t group = 0; group < args.groups; group += 2 * kChunkOctets) {
    const uint32_t left = args.groups - group, groups = left < 2 * kChunkOctets ? left : 2 * kChunkOctets;
    chunk.octets = (groups + 1) / 2;
    chunk.first = group == 0;
    order_rows(args, group, groups, chunk);
    for (uint32_t half = 0; half < 2 * args.panels; ++half) {
      const int8_t* w = args.w + half / 2 * args.w_panel_stride + group * uint64_t{64} + half % 2 * (4 * kHalf);
      order_outputs(w, groups, chunk);
      multiply_half(args, chunk, args.c + half * kHalf);
    }
  }
}

}  // namespace heed::i8mm
