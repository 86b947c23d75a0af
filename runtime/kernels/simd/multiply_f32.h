// Float matrix product over panels of 16 outputs: a register tile of rows and panels, sums in order of k.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/lanes.h"
#include "quant/panel.h"

namespace heed::simd {

template <class L>
[[gnu::always_inline]] inline typename L::F load_weight(const float* p) {
  return L::load(p);
}
template <class L>
[[gnu::always_inline]] inline typename L::F load_weight(const uint16_t* p) {
  return L::load_half(p);
}

template <class L, class Weight, uint32_t kRows, uint32_t kPanels>
void multiply_tile(const MultiplyF32& args, uint32_t row, uint32_t panel) {
  constexpr uint32_t kPerPanel = kPanelRows / L::kLanes, kVectors = kPanels * kPerPanel;
  const float* a = args.a + row * args.a_stride;
  const Weight* w = static_cast<const Weight*>(args.w) + panel * args.w_panel_stride;
  const uint64_t a_stride = args.a_stride, panel_stride = args.w_panel_stride;
  const uint32_t cols = args.cols;
  typename L::F sum[kRows][kVectors];
#pragma GCC unroll 16
  for (auto& of_row : sum) {
#pragma GCC unroll 16
    for (auto& v : of_row) v = L::set(0.0f);
  }
  for (uint32_t i = 0; i < cols; ++i) {
    typename L::F line[kVectors];
#pragma GCC unroll 16
    for (uint32_t v = 0; v < kVectors; ++v) {
      line[v] = load_weight<L>(w + v / kPerPanel * panel_stride + uint64_t{i} * kPanelRows + v % kPerPanel * L::kLanes);
    }
#pragma GCC unroll 16
    for (uint32_t r = 0; r < kRows; ++r) {
      const auto x = L::set(a[r * a_stride + i]);
#pragma GCC unroll 16
      for (uint32_t v = 0; v < kVectors; ++v) sum[r][v] = sum[r][v] + x * line[v];
    }
  }
  float* c = args.c + uint64_t{row} * args.c_stride + panel * kPanelRows;
#pragma GCC unroll 16
  for (uint32_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (uint32_t v = 0; v < kVectors; ++v)
      Whole<L>{}.store(c + uint64_t{r} * args.c_stride + v * L::kLanes, sum[r][v]);
  }
}

// All rows of kPanels panels, in tiles of kRows and of one.
template <class L, class Weight, uint32_t kPanels>
void multiply_panels(const MultiplyF32& args, uint32_t panel) {
  constexpr uint32_t kRows = L::kProductRows;
  uint32_t row = 0;
  for (; row + kRows <= args.rows; row += kRows) multiply_tile<L, Weight, kRows, kPanels>(args, row, panel);
  for (; row < args.rows; ++row) multiply_tile<L, Weight, 1, kPanels>(args, row, panel);
}

template <class L, class Weight>
void multiply_weights(const MultiplyF32& args) {
  constexpr uint32_t kPanels = L::kProductPanels;
  uint32_t panel = 0;
  for (; panel + kPanels <= args.panels; panel += kPanels) multiply_panels<L, Weight, kPanels>(args, panel);
  for (; panel < args.panels; ++panel) multiply_panels<L, Weight, 1>(args, panel);
}

template <class L>
void multiply_f32(const MultiplyF32& args) {
  args.w_format == ElementFormat::kF16 ? multiply_weights<L, uint16_t>(args) : multiply_weights<L, float>(args);
}

}  // namespace heed::simd
