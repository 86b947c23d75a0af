// Panel layouts: how matrices and keys lie in memory, for the converter that packs and the kernels that read.
// SPDX-License-Identifier: Apache-2.0
//
// panel16, int8: 16 outputs side by side, 4 inputs of each together, zeros up to whole panels and groups.
//
//     [rows/16][cols/4][16][4]
//
//     panel p, group g:   | o0: k0 k1 k2 k3 | o1: k0 k1 k2 k3 | ... | o15: k0 k1 k2 k3 |    64 bytes
//     where o_i is row 16p + i and k_j is column 4g + j.
//
// panel16, f32 and f16: [rows/16][cols][16]; one line of 16 outputs for each input.
#pragma once
#include <cstdint>

namespace heed {

constexpr uint32_t kAlignment = 64;     // bytes; of model bytes, arenas, weights and rows
constexpr uint32_t kPanelRows = 16;     // outputs in a panel
constexpr uint32_t kGroupCols = 4;      // inputs in a group
constexpr uint32_t kKeyTile = 64;       // keys that share one scale of attention weights
constexpr uint32_t kMaxInt8Cols = 66000;  // 255 * 127 * cols stays below 2^31

constexpr uint64_t round_up(uint64_t n, uint64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// Bytes of one int8 panel, and of a whole int8 matrix.
constexpr uint64_t panel_i8_bytes(uint64_t cols) { return round_up(cols, kGroupCols) * kPanelRows; }
constexpr uint64_t matrix_i8_bytes(uint64_t rows, uint64_t cols) {
  return round_up(rows, kPanelRows) / kPanelRows * panel_i8_bytes(cols);
}
// Elements of a whole f32 or f16 matrix.
constexpr uint64_t matrix_f32_elems(uint64_t rows, uint64_t cols) { return round_up(rows, kPanelRows) * cols; }

// Where row r, column c of an int8 matrix lies, in bytes.
constexpr uint64_t panel_i8_index(uint64_t r, uint64_t c, uint64_t cols) {
  return r / kPanelRows * panel_i8_bytes(cols) + c / kGroupCols * (kPanelRows * kGroupCols) +
         r % kPanelRows * kGroupCols + c % kGroupCols;
}
// Where row r, column c of an f32 or f16 matrix lies, in elements.
constexpr uint64_t panel_f32_index(uint64_t r, uint64_t c, uint64_t cols) {
  return r / kPanelRows * kPanelRows * cols + c * kPanelRows + r % kPanelRows;
}

// Keys of one sequence and one head: an int8 matrix with a row for each key, [keys/16][head_dim/4][16][4].
// Values: for each tile of 64 keys an int8 matrix with a row for each feature and a column for each key,
// [value_dim/16][keys/4][16][4]; the last tile is as narrow as its keys need, in steps of 16. f32: the same with
// the f32 layout. Every sequence takes room for a multiple of 16 keys.
constexpr uint64_t padded_keys(uint64_t keys) { return round_up(keys, kPanelRows); }
// Keys that the tile which starts at `first` has room for, when the sequence has `keys`.
constexpr uint32_t tile_keys(uint64_t keys, uint64_t first) {
  return static_cast<uint32_t>(padded_keys(keys) - first < kKeyTile ? padded_keys(keys) - first : kKeyTile);
}

}  // namespace heed
