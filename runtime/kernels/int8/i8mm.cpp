// Int8 products with the matrix instructions of ARMv8.6: 2 rows by 2 outputs by 8 inputs an instruction.
// SPDX-License-Identifier: Apache-2.0
//
// smmla wants 8 inputs of two rows (or outputs) side by side. Weights lie as groups of 4 inputs: those of half a panel are zipped
// on the stack, once for all rows. Rows come in such pairs already, two after each other (MultiplyI8::woven), or are put
// together as they are loaded. A block is up to 6 pairs of rows by half a panel: 24 sums. In assembly, in this order: GCC
// 12 copies sums between registers otherwise.
#ifndef __clang__
#pragma GCC optimize("no-schedule-insns")  // or it moves a pointer to and fro in each loop
#endif
#include "kernels/int8/aarch64.h"

namespace heed::i8mm {
namespace {

constexpr uint32_t kBlockPairs = 6;
constexpr int kQuads = 4;             // pairs of outputs in half a panel
constexpr uint32_t kMaxOctets = 192;  // of inputs that are zipped at a time: 12 KiB
constexpr uint32_t kOctetBytes = 64;  // of half a panel

// What all blocks of a half panel share.
struct Half {
  uint64_t a_stride;
  uint64_t c_stride;
  const int8_t* w;  // zipped
  uint32_t octets;
  bool odd_group;   // after them, 4 inputs
  bool add;         // to the sums in c
};

// A block is at `a` and `c`; `rows` are left: more than its own, or one less.
using BlockFunction = void (*)(const Half& half, const uint8_t* a, int32_t* c, uint32_t rows);

// 32 bytes `offset` bytes on, where `at` goes if kMove.
template <bool kMove>
__attribute__((always_inline)) inline void load_two(int8x16_t& x, int8x16_t& y, const int8_t*& at, int offset) {
  if constexpr (kMove) {
    asm volatile("ldp %q0, %q1, [%2, %3]!" : "=&w"(x), "=&w"(y), "+r"(at) : "i"(offset) : "memory");
  } else {
    aarch64::load_weights(x, y, at, offset);
  }
}

// Where the inputs of four rows lie that were loaded last: of two pairs.
struct Woven {
  static constexpr bool kAnyShape = false;  // rows are a multiple of 4, groups of 2
  const int8_t* at;
};
// Where the next ones of one pair lie.
struct Apart {
  static constexpr bool kAnyShape = true;
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

// Octet `octet` of a half panel from w on, zipped to `out`.
__attribute__((always_inline)) inline void zip_octet(const int8_t* w, int octet, int8_t*& out) {
  asm volatile(
      "ldp q0, q2, [%1, %2]\n\t"
      "ldp q1, q3, [%1, %3]\n\t"
      "st2 {v0.4s, v1.4s}, [%0], #32\n\t"
      "st2 {v2.4s, v3.4s}, [%0], #32"
      : "+r"(out)
      : "r"(w), "i"(octet * 128), "i"(octet * 128 + 64)
      : "v0", "v1", "v2", "v3", "memory");
}

// `groups` groups of a half panel, the partner of an odd one being zeros.
void zip_weights(const int8_t* w, uint32_t groups, int8_t* out) {
  uint32_t octets = groups / 2;
  for (; octets >= 4; octets -= 4, w += 512) {
    zip_octet(w, 0, out);
    zip_octet(w, 1, out);
    zip_octet(w, 2, out);
    zip_octet(w, 3, out);
  }
#pragma GCC unroll 1
  for (; octets > 0; --octets, w += 128) zip_octet(w, 0, out);
  if (groups % 2 != 0) {
    alignas(16) int8_t last[128] = {};
    __builtin_memcpy(last, w, 32);
    zip_octet(last, 0, out);
  }
}

__attribute__((always_inline)) inline void multiply(int32x4_t (&sums)[kQuads], int8x16_t in, const int8x16_t (&w)[kQuads]) {
#pragma GCC unroll 4
  for (int q = 0; q < kQuads; ++q) asm volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(sums[q]) : "w"(in), "w"(w[q]));
}

// 8 inputs of a block, the octet `octet` after those that were loaded last. Inputs are loaded while those before them are
// multiplied.
template <int kPairs, bool kMove>
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

template <int kPairs, bool kMove>
__attribute__((always_inline)) inline void multiply_inputs(int32x4_t (&sums)[kPairs][kQuads], Woven (&fours)[kPairs / 2],
                                                           const int8x16_t (&out)[kQuads], int octet) {
#pragma GCC unroll 3
  for (int f = 0; f < kPairs / 2; ++f) {
    int8x16_t first, second;
    load_two<kMove>(first, second, fours[f].at, octet * 32);
    multiply(sums[2 * f], first, out);
    multiply(sums[2 * f + 1], second, out);
  }
}

template <int kPairs, bool kMove, class Rows>
__attribute__((always_inline)) inline void multiply_octet(int32x4_t (&sums)[kPairs][kQuads], Rows& rows, const int8_t*& w,
                                                          int octet) {
  int8x16_t out[kQuads];
  load_two<kMove>(out[0], out[1], w, octet * kOctetBytes);
  load_two<false>(out[2], out[3], w, kMove ? 32 : octet * kOctetBytes + 32);
  multiply_inputs<kPairs, kMove>(sums, rows, out, octet);
}

// The sums are row 0 by outputs 0 and 1, row 1 by the same; so for all pairs of outputs.
template <bool kAnyShape, int kPairs>
__attribute__((always_inline)) inline void store_block(int32_t* c, uint64_t c_stride, uint32_t rows, const int32x4_t (&sums)[kPairs][kQuads]) {
#pragma GCC unroll 6
  for (int p = 0; p < kPairs; ++p, c += 2 * c_stride) {
    asm volatile("stp %d0, %d1, [%4]\n\tstp %d2, %d3, [%4, #16]"
                 : : "w"(sums[p][0]), "w"(sums[p][1]), "w"(sums[p][2]), "w"(sums[p][3]), "r"(c) : "memory");
    if (kAnyShape && 2 * p + 1u >= rows) continue;
    int64x2_t pair[kQuads];
#pragma GCC unroll 4
    for (int q = 0; q < kQuads; ++q) pair[q] = vreinterpretq_s64_s32(sums[p][q]);
    asm volatile("stp %q0, %q1, [%2]" : : "w"(vzip2q_s64(pair[0], pair[1])), "w"(vzip2q_s64(pair[2], pair[3])), "r"(c + c_stride) : "memory");
  }
}

// Sums that store_block stored.
template <bool kAnyShape, int kPairs>
__attribute__((always_inline)) inline void load_block(const int32_t* c, uint64_t c_stride, uint32_t rows, int32x4_t (&sums)[kPairs][kQuads]) {
#pragma GCC unroll 6
  for (int p = 0; p < kPairs; ++p, c += 2 * c_stride) {
    const int32_t* second = !kAnyShape || 2 * p + 1u < rows ? c + c_stride : c;
#pragma GCC unroll 4
    for (int q = 0; q < kQuads; ++q) sums[p][q] = vcombine_s32(vld1_s32(c + 2 * q), vld1_s32(second + 2 * q));
  }
}

template <int kPairs, class Rows, int kRows>
__attribute__((always_inline)) inline void multiply_rows(const Half& half, Rows (&in)[kRows], int32_t* c, uint32_t rows) {
  const uint64_t c_stride = half.c_stride;
  int32x4_t sums[kPairs][kQuads];
#pragma GCC unroll 6
  for (auto& pair : sums) {
#pragma GCC unroll 4
    for (auto& sum : pair) sum = vdupq_n_s32(0);
  }
  if (half.add) load_block<Rows::kAnyShape>(c, c_stride, rows, sums);
  const int8_t* w = half.w - kOctetBytes;
  for (uint32_t fours = half.octets / 4; fours > 0; --fours) {
    multiply_octet<kPairs, false>(sums, in, w, 1);
    multiply_octet<kPairs, false>(sums, in, w, 2);
    multiply_octet<kPairs, false>(sums, in, w, 3);
    multiply_octet<kPairs, true>(sums, in, w, 4);
  }
#pragma GCC unroll 1
  for (uint32_t octets = half.octets % 4; octets > 0; --octets) multiply_octet<kPairs, true>(sums, in, w, 1);
  if constexpr (Rows::kAnyShape) {
    if (half.odd_group) {
      int8x16_t out[kQuads];
#pragma GCC unroll 4
      for (int q = 0; q < kQuads; ++q) out[q] = vld1q_s8(w + kOctetBytes + q * 16);
#pragma GCC unroll 6
      for (int p = 0; p < kPairs; ++p) multiply(sums[p], in[p].load_group(), out);
    }
  }
  store_block<Rows::kAnyShape>(c, c_stride, rows, sums);
}

template <int kPairs>
void multiply_woven(const Half& half, const uint8_t* a, int32_t* c, uint32_t rows) {
  Woven fours[kPairs / 2];
#pragma GCC unroll 3
  for (int f = 0; f < kPairs / 2; ++f, a += 4 * half.a_stride) fours[f] = {reinterpret_cast<const int8_t*>(a) - 32};
  multiply_rows<kPairs>(half, fours, c, rows);
}

// An odd last row is its own neighbour.
template <int kPairs>
void multiply_apart(const Half& half, const uint8_t* a, int32_t* c, uint32_t rows) {
  Apart pairs[kPairs];
#pragma GCC unroll 6
  for (int p = 0; p < kPairs; ++p) {
    const uint8_t* first = a + 2 * p * half.a_stride;
    pairs[p] = {first, 2 * p + 1u < rows ? first + half.a_stride : first};
  }
  multiply_rows<kPairs>(half, pairs, c, rows);
}

constexpr BlockFunction kWoven[kBlockPairs / 2] = {multiply_woven<2>, multiply_woven<4>, multiply_woven<6>};
constexpr BlockFunction kApart[kBlockPairs] = {multiply_apart<1>, multiply_apart<2>, multiply_apart<3>,
                                               multiply_apart<4>, multiply_apart<5>, multiply_apart<6>};

constexpr uint32_t kMaxBlocks = 3;  // of 32 rows

// A block of a tile: what multiplies it, where it begins, and the rows that are left there.
struct Part {
  BlockFunction multiply;
  uint64_t a;
  uint64_t c;
  uint32_t rows;
};

// Cuts rows into blocks of nearly the same size, larger ones first. Returns their end.
const Part* split(const MultiplyI8& args, Part (&parts)[kMaxBlocks]) {
  // A unit is four rows that are woven, or a pair.
  const BlockFunction* functions = args.woven ? kWoven : kApart;
  const uint32_t unit_rows = args.woven ? 4 : 2, most = args.woven ? kBlockPairs / 2 : kBlockPairs;
  const uint32_t units = (args.rows + unit_rows - 1) / unit_rows, blocks = (units + most - 1) / most;
  const uint32_t least = units / blocks, larger = units % blocks;
  uint32_t row = 0;
  for (uint32_t i = 0; i < blocks; ++i) {
    const uint32_t size = least + (i < larger);
    parts[i] = {functions[size - 1], row * args.a_stride, row * uint64_t{args.c_stride}, args.rows - row};
    row += size * unit_rows;
  }
  return parts + blocks;
}

}  // namespace

void multiply_i8(const MultiplyI8& args) {
  if (args.rows == 1) return dotprod::multiply_i8(args);
  Part parts[kMaxBlocks];
  const Part* const end = split(args, parts);
  const uint64_t group_bytes = args.woven ? 16 : 4;  // of woven rows, in the first of four
  alignas(64) int8_t zipped[kMaxOctets * kOctetBytes];
  Half half = {args.a_stride, args.c_stride, zipped, 0, false, false};
  const int8_t* w = args.w;
  for (uint32_t h = 0; h < 2 * args.panels; ++h) {
    const uint8_t* a = args.a;
    int32_t* c = args.c + h * 8;
    for (uint32_t left = args.groups, groups; left > 0; left -= groups, a += groups * group_bytes) {
      groups = left < 2 * kMaxOctets ? left : 2 * kMaxOctets;
      half.add = left < args.groups;
      half.octets = groups / 2;
      half.odd_group = groups % 2 != 0;
      zip_weights(w + (args.groups - left) * uint64_t{64}, groups, zipped);
      for (const Part* part = parts; part != end; ++part) part->multiply(half, a + part->a, c + part->c, part->rows);
    }
    w += h % 2 == 0 ? 32 : args.w_panel_stride - 32;
  }
}

}  // namespace heed::i8mm
