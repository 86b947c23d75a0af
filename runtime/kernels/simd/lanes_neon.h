// The vocabulary of lanes.h for NEON on aarch64: 16 lanes, four vectors of 4.
// SPDX-License-Identifier: Apache-2.0
//
// NaNs: session/float_control.h asks for the processor's default NaN, so that arithmetic makes none but 0x7fc00000.
#pragma once
#include "kernels/simd/lanes_four.h"

namespace heed::simd {

struct NeonFour : FourLanes<xsimd::neon64> {
  using FourLanes<xsimd::neon64>::store_bytes;

  static F max(F a, F b) { return F(vmaxnmq_f32(a, b)); }
  static F divide(F a, F b) { return F(vdivq_f32(a, b)); }
  static F sqrt(F x) { return F(vsqrtq_f32(x)); }
  static I nearest(F x) { return I(vcvtnq_s32_f32(x)); }
  static void store_bytes(uint8_t* p, uint8_t flip, I a, I b, I c, I d) {
    const int16x8_t low = vqmovn_high_s32(vqmovn_s32(a), b), high = vqmovn_high_s32(vqmovn_s32(c), d);
    const int8x16_t bytes = vqmovn_high_s16(vqmovn_s16(low), high);
    vst1q_u8(p, veorq_u8(vreinterpretq_u8_s8(bytes), vdupq_n_u8(flip)));
  }
  static void store_weights(uint8_t* p, I v) { store_bytes(p, 0, v); }
  static void store_weights(uint8_t* p, I a, I b, I c, I d) {
    const int16x8_t low = vuzp1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
    const int16x8_t high = vuzp1q_s16(vreinterpretq_s16_s32(c), vreinterpretq_s16_s32(d));
    vst1q_u8(p, vuzp1q_u8(vreinterpretq_u8_s16(low), vreinterpretq_u8_s16(high)));
  }
  static F load_half(const uint16_t* p) {
    return F(vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))));
  }

  static float fold_add(F v) { return vpadds_f32(vadd_f32(vget_low_f32(v), vget_high_f32(v))); }
  static float fold_max(F v) { return vmaxnmvq_f32(v); }
  static int32_t fold_max_signed(I v) { return vmaxvq_s32(v); }
  static int32_t fold_max_unsigned(I v) { return static_cast<int32_t>(vmaxvq_u32(vreinterpretq_u32_s32(v))); }
  static int32_t fold_sum(I v) { return vaddvq_s32(v); }
};

struct NeonLanes : Several<NeonFour, 4> {
  static constexpr uint32_t kProductRows = 4;
  static constexpr uint32_t kProductPanels = 1;
  static constexpr uint32_t kChains = 1;
  static constexpr bool kWeaves = true;
  static constexpr bool kFoldsFour = false;

  // Half as many additions as before the first narrowing.
  static void store_woven(uint8_t* p, int16_t zero, const I& v) {
    const int16x8_t low = vaddq_s16(vqmovn_high_s32(vqmovn_s32(v.v[0]), v.v[1]), vdupq_n_s16(zero));
    const int16x8_t high = vaddq_s16(vqmovn_high_s32(vqmovn_s32(v.v[2]), v.v[3]), vdupq_n_s16(zero));
    const int8x16_t bytes = vqmovn_high_s16(vqmovn_s16(low), high);
    vst1_s8(reinterpret_cast<int8_t*>(p), vget_low_s8(bytes));
    vst1_s8(reinterpret_cast<int8_t*>(p + 32), vget_high_s8(bytes));
  }
};

}  // namespace heed::simd
