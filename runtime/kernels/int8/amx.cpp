// Int8 products with AMX: 16 rows by 64 inputs times 64 inputs by 16 outputs in one instruction.
// SPDX-License-Identifier: Apache-2.0
//
// 16 groups of a panel are what the instruction wants as its second operand, so panels are read where they lie. A tile
// is up to 32 rows by 2 panels, its sums in registers 0 to 3; inputs and weights pass through 4 to 7. Rows that do
// not fill 16, and inputs that do not fill 64, go through copies that end in zeros.
#include <immintrin.h>
#include <string.h>

#include "kernels/tables.h"

namespace heed::amx {
namespace {

constexpr uint32_t kRows = 16;            // of a register
constexpr uint32_t kGroups = 16;          // of inputs in a register
constexpr uint32_t kFewRows = 12;         // fewer are not worth a register
constexpr uint64_t kLine = 64;            // bytes of a register's row
constexpr uint64_t kRegister = 16 * kLine;

// How the registers are used, as LDTILECFG reads it: all eight whole.
struct alignas(64) Config {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {kLine, kLine, kLine, kLine, kLine, kLine, kLine, kLine};
  uint8_t rows[16] = {kRows, kRows, kRows, kRows, kRows, kRows, kRows, kRows};
};
constexpr Config kConfig;

// One register's worth of inputs of the rows that follow `a`, and of the weights of two panels.
struct Operands {
  const uint8_t* a;
  uint64_t a_stride;
  const int8_t* w;
  uint64_t w_panel_stride;
};

template <int kBlocks, int kPanels>
__attribute__((always_inline)) inline void multiply_registers(const Operands& o) {
  _tile_loadd(4, o.a, o.a_stride);
  _tile_loadd(6, o.w, kLine);
  _tile_dpbusd(0, 4, 6);
  if constexpr (kPanels == 2) {
    _tile_loadd(7, o.w + o.w_panel_stride, kLine);
    _tile_dpbusd(1, 4, 7);
  }
  if constexpr (kBlocks == 2) {
    _tile_loadd(5, o.a + kRows * o.a_stride, o.a_stride);
    _tile_dpbusd(2, 5, 6);
    if constexpr (kPanels == 2) _tile_dpbusd(3, 5, 7);
  }
}

// GCC 12's _tile_loadd does not say that it reads memory: what was written to a copy has to be there by then.
__attribute__((always_inline)) inline void finish_copies() { __asm__ volatile("" ::: "memory"); }

// Lines of up to 64 bytes, `count` of them, as whole lines that end in zeros.
__attribute__((always_inline)) inline void copy_lines(uint8_t* to, const void* from, uint64_t stride, uint32_t count,
                                                      uint32_t bytes) {
  const __mmask64 mask = bytes >= kLine ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1;
  for (uint32_t i = 0; i < count; ++i) {
    _mm512_store_si512(to + i * kLine, _mm512_maskz_loadu_epi8(mask, static_cast<const uint8_t*>(from) + i * stride));
  }
}

// The last inputs, fewer than a register holds: 4 bytes of a row and a line of a panel for each group.
template <int kBlocks, int kPanels>
__attribute__((noinline)) void multiply_rest(const Operands& o, uint32_t rows, uint32_t groups) {
  alignas(64) uint8_t a[kBlocks * kRegister];
  alignas(64) int8_t w[kPanels * kRegister];
  memset(a, 0, sizeof a);
  memset(w, 0, sizeof w);
  copy_lines(a, o.a, o.a_stride, rows, groups * 4);
  for (int p = 0; p < kPanels; ++p) memcpy(w + p * kRegister, o.w + p * o.w_panel_stride, groups * kLine);
  finish_copies();
  multiply_registers<kBlocks, kPanels>({a, kLine, w, kRegister});
}

// Registers 0 to 3 as they are before the first product. (The intrinsics want numbers, not constants.)
template <int kBlocks, int kPanels>
__attribute__((always_inline)) inline void clear_sums() {
  _tile_zero(0);
  if constexpr (kPanels == 2) _tile_zero(1);
  if constexpr (kBlocks == 2) _tile_zero(2);
  if constexpr (kBlocks == 2 && kPanels == 2) _tile_zero(3);
}
// Less 128 times the weights' sums, the same in all rows.
template <int kBlocks, int kPanels>
__attribute__((always_inline)) inline void start_sums(const int32_t* sums) {
  alignas(64) int32_t start[kPanels][16];
  for (int p = 0; p < kPanels; ++p) {
    const __m512i all = _mm512_slli_epi32(_mm512_load_si512(sums + p * 16), 7);
    _mm512_store_si512(start[p], _mm512_sub_epi32(_mm512_setzero_si512(), all));
  }
  finish_copies();
  _tile_loadd(0, start[0], 0);
  if constexpr (kPanels == 2) _tile_loadd(1, start[1], 0);
  if constexpr (kBlocks == 2) _tile_loadd(2, start[0], 0);
  if constexpr (kBlocks == 2 && kPanels == 2) _tile_loadd(3, start[1], 0);
}

// kWhole: `rows` fill the blocks. Otherwise there is one block, and its rows are copied at every step.
template <int kBlocks, int kPanels, bool kWhole>
void multiply_tile(const MultiplyI8& args) {
  Operands o = {args.a, args.a_stride, args.w, args.w_panel_stride};
  alignas(64) uint8_t rows[kWhole ? kLine : kRegister];
  if constexpr (!kWhole) memset(rows, 0, sizeof rows);
  args.sums ? start_sums<kBlocks, kPanels>(args.sums) : clear_sums<kBlocks, kPanels>();
  uint32_t groups = args.groups;
  for (; groups >= kGroups; groups -= kGroups, o.a += kLine, o.w += kRegister) {
    if constexpr (kWhole) {
      multiply_registers<kBlocks, kPanels>(o);
    } else {
      copy_lines(rows, o.a, o.a_stride, args.rows, kLine);
      finish_copies();
      multiply_registers<1, kPanels>({rows, kLine, o.w, o.w_panel_stride});
    }
  }
  if (groups > 0) multiply_rest<kBlocks, kPanels>(o, args.rows, groups);
  const uint64_t c_line = uint64_t{args.c_stride} * sizeof(int32_t);
  if constexpr (kWhole) {
    _tile_stored(0, args.c, c_line);
    if constexpr (kPanels == 2) _tile_stored(1, args.c + 16, c_line);
    if constexpr (kBlocks == 2) _tile_stored(2, args.c + uint64_t{kRows} * args.c_stride, c_line);
    if constexpr (kBlocks == 2 && kPanels == 2) _tile_stored(3, args.c + uint64_t{kRows} * args.c_stride + 16, c_line);
  } else {
    alignas(64) int32_t sums[kPanels * kRows * 16];
    _tile_stored(0, sums, kLine);
    if constexpr (kPanels == 2) _tile_stored(1, sums + kRows * 16, kLine);
    for (int p = 0; p < kPanels; ++p) {
      for (uint32_t r = 0; r < args.rows; ++r) {
        memcpy(args.c + uint64_t{r} * args.c_stride + p * 16, sums + (p * kRows + r) * 16, kLine);
      }
    }
  }
}

// Few rows, and inputs of which there are less than a register holds, such as those of a head: vectors multiply them sooner than
// copies are made.
void multiply_by_vectors(const MultiplyI8& args) {
  if (args.rows <= kRows) return avx512vnni::multiply_i8(args);
  MultiplyI8 part = args;
  part.fetches = 0;
  for (uint32_t row = 0; row < args.rows; row += kRows) {
    part.rows = args.rows - row < kRows ? args.rows - row : kRows;
    part.a = args.a + row * args.a_stride;
    part.c = args.c + uint64_t{row} * args.c_stride;
    avx512vnni::multiply_i8(part);
  }
}

template <int kPanels>
void multiply_panels(const MultiplyI8& args) {
  if (args.rows == 2 * kRows) return multiply_tile<2, kPanels, true>(args);
  MultiplyI8 part = args;
  if (args.rows >= kRows) {
    part.rows = kRows;
    multiply_tile<1, kPanels, true>(part);
    part.rows = args.rows - kRows;
    part.a += kRows * args.a_stride;
    part.c += uint64_t{kRows} * args.c_stride;
  }
  if (part.rows > 0) part.rows < kFewRows ? multiply_by_vectors(part) : multiply_tile<1, kPanels, false>(part);
}

}  // namespace

void enter() { _tile_loadconfig(&kConfig); }

void leave() { _tile_release(); }

void multiply_i8(const MultiplyI8& args) {
  if (args.groups < kGroups || args.rows < kFewRows) return multiply_by_vectors(args);
  args.panels == 2 ? multiply_panels<2>(args) : multiply_panels<1>(args);
}

}  // namespace heed::amx
