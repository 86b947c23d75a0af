// Int8 products in plain C++: the definition that every instruction set must equal.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tables.h"
#include "quant/panel.h"

namespace heed::ref {

// Activation bytes are signed here (byte_flip is 0).
void multiply_i8(const MultiplyI8& args) {
  for (uint32_t r = 0; r < args.rows; ++r) {
    for (uint32_t p = 0; p < args.panels; ++p) {
      const int8_t* a = reinterpret_cast<const int8_t*>(args.a + r * args.a_stride);
      const int8_t* w = args.w + p * args.w_panel_stride;
      int32_t sums[kPanelRows] = {};
      for (uint32_t g = 0; g < args.groups; ++g, a += kGroupCols, w += kPanelRows * kGroupCols) {
        for (uint32_t o = 0; o < kPanelRows; ++o) {
          const int8_t* four = w + o * kGroupCols;
          sums[o] += a[0] * four[0] + a[1] * four[1] + a[2] * four[2] + a[3] * four[3];
        }
      }
      int32_t* c = args.c + r * uint64_t{args.c_stride} + p * kPanelRows;
      for (uint32_t o = 0; o < kPanelRows; ++o) c[o] = sums[o];
    }
  }
}

}  // namespace heed::ref
