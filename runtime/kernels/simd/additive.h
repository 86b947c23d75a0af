// Additive attention scores: a panel of 16 keys side by side, features one after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/math.h"
#include "quant/panel.h"

namespace heed::simd {

template <class L>
void score_additive(const ScoreAdditive& args) {
  const uint64_t panel_elems = uint64_t{args.cols} * kPanelRows;
  for (uint32_t r = 0; r < args.rows; ++r) {
    const float* a = args.a + r * args.a_stride;
    float* c = args.c + uint64_t{r} * args.c_stride;
    for (uint32_t j = 0; j < args.panels * kPanelRows; j += L::kLanes) {
      const float* keys = args.keys + j / kPanelRows * panel_elems + j % kPanelRows;
      auto sum = L::set(0.0f);
      for (uint32_t k = 0; k < args.cols; ++k) {
        const auto bent = tanh<L>(L::set(a[k]) + L::load(keys + uint64_t{k} * kPanelRows));
        sum = sum + L::set(args.v[k]) * bent;
      }
      Whole<L>{}.store(c + j, sum);
    }
  }
}

}  // namespace heed::simd
