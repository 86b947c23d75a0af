// The vocabulary of lanes.h for NEON on aarch64: 16 lanes, four vectors of 4.
// SPDX-License-Identifier: Apache-2.0
//
// NaNs: session/float_control.h asks for the processor's default NaN, so that arithmetic makes none but 0x7fc00000.
#pragma once
#include <arm_neon.h>

#include "kernels/simd/lanes_several.h"
#include "kernels/simd/lanes_xsimd.h"

namespace heed::simd {

struct NeonFour : XsimdLanes<xsimd::neon64> {
  static F load_part(const float* p, uint32_t count) {
    if (count >= kLanes) return load(p);
    float32x4_t x = vdupq_n_f32(0.0f);
    if (count > 0) x = vld1q_lane_f32(p, x, 0);
    if (count > 1) x = vld1q_lane_f32(p + 1, x, 1);
    if (count > 2) x = vld1q_lane_f32(p + 2, x, 2);
    return F(x);
  }
  static I load_part(const int32_t* p, uint32_t count) {
    if (count >= kLanes) return load(p);
    int32x4_t x = vdupq_n_s32(0);
    if (count > 0) x = vld1q_lane_s32(p, x, 0);
    if (count > 1) x = vld1q_lane_s32(p + 1, x, 1);
    if (count > 2) x = vld1q_lane_s32(p + 2, x, 2);
    return I(x);
  }
  static void store_part(float* p, F v, uint32_t count) {
    if (count >= kLanes) return store(p, v);
    if (count > 0) vst1q_lane_f32(p, v, 0);
    if (count > 1) vst1q_lane_f32(p + 1, v, 1);
    if (count > 2) vst1q_lane_f32(p + 2, v, 2);
  }
  static M lanes_between(int32_t lo, int32_t hi) {
    constexpr int32_t kNumbers[4] = {0, 1, 2, 3};
    const int32x4_t lane = vld1q_s32(kNumbers);
    return M(vandq_u32(vcgeq_s32(lane, vdupq_n_s32(lo)), vcltq_s32(lane, vdupq_n_s32(hi))));
  }

  static F select(M m, F a, F b) { return F(vbslq_f32(m, a, b)); }
  static I bits(F x) { return I(vreinterpretq_s32_f32(x)); }
  static F from_bits(I i) { return F(vreinterpretq_f32_s32(i)); }
  template <int n>
  static I shift_left(I i) {
    return I(vshlq_n_s32(i, n));
  }
  template <int n>
  static I shift_right(I i) {
    return I(vshrq_n_s32(i, n));
  }
  static F to_float(I i) { return F(vcvtq_f32_s32(i)); }
  static F abs(F x) { return F(vabsq_f32(x)); }
  static F max(F a, F b) { return F(vmaxnmq_f32(a, b)); }
  static F at_least(F x, float low) { return F(vmaxq_f32(x, vdupq_n_f32(low))); }
  static F at_most(F x, float high) { return F(vminq_f32(x, vdupq_n_f32(high))); }
  static F least_magnitude(F x, float limit) { return at_most(abs(x), limit); }
  static F one_nan(F x) { return F(vmaxq_f32(x, x)); }
  static F storable(F x) {
    const uint32x4_t small = vcaltq_f32(x, vdupq_n_f32(kLeastStored));
    return F(vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(x), small)));
  }
  static F divide(F a, F b) { return F(vdivq_f32(a, b)); }
  static F sqrt(F x) { return F(vsqrtq_f32(x)); }
  static I nearest(F x) { return I(vcvtnq_s32_f32(x)); }
  static I max_signed(I a, I b) { return I(vmaxq_s32(a, b)); }
  static I max_unsigned(I a, I b) {
    return I(vreinterpretq_s32_u32(vmaxq_u32(vreinterpretq_u32_s32(a), vreinterpretq_u32_s32(b))));
  }

  static void store_bytes(uint8_t* p, uint8_t flip, I v) {
    const int16x4_t words = vqmovn_s32(v);
    const uint8x8_t bytes = veor_u8(vreinterpret_u8_s8(vqmovn_s16(vcombine_s16(words, words))), vdup_n_u8(flip));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
    std::memcpy(p, &four, sizeof four);
  }
  static uint8x16_t to_bytes(uint8_t flip, I a, I b, I c, I d) {
    const int16x8_t low = vqmovn_high_s32(vqmovn_s32(a), b);
    const int16x8_t high = vqmovn_high_s32(vqmovn_s32(c), d);
    const int8x16_t bytes = vqmovn_high_s16(vqmovn_s16(low), high);
    return veorq_u8(vreinterpretq_u8_s8(bytes), vdupq_n_u8(flip));
  }
  static void store_bytes(uint8_t* p, uint8_t flip, I a, I b, I c, I d) { vst1q_u8(p, to_bytes(flip, a, b, c, d)); }
  static void store_weights(uint8_t* p, I v) { store_bytes(p, 0, v); }
  static void store_weights(uint8_t* p, I a, I b, I c, I d) {
    const int16x8_t low = vuzp1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
    const int16x8_t high = vuzp1q_s16(vreinterpretq_s16_s32(c), vreinterpretq_s16_s32(d));
    vst1q_u8(p, vuzp1q_u8(vreinterpretq_u8_s16(low), vreinterpretq_u8_s16(high)));
  }
  static I load_bytes(const int8_t* p) {
    int32_t four;
    std::memcpy(&four, p, sizeof four);
    return I(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four))))));
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
  static constexpr bool kSigned = true;
  static constexpr bool kWeaves = true;

  static void store_woven(uint8_t* p, uint8_t flip, const I& v) {
    const uint8x16_t bytes = NeonFour::to_bytes(flip, v.v[0], v.v[1], v.v[2], v.v[3]);
    vst1_u8(p, vget_low_u8(bytes));
    vst1_u8(p + 32, vget_high_u8(bytes));
  }
};

}  // namespace heed::simd
