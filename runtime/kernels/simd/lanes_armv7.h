// The vocabulary of lanes.h for NEON on 32-bit ARM: 8 lanes, two vectors of 4.
// SPDX-License-Identifier: Apache-2.0
//
// This NEON makes only the one NaN, takes subnormal numbers for 0 (none arises: kernels.h), and has neither division nor
// square root: those are the scalar unit's, one lane after another. Halves are taken apart by hand, since not every
// processor with NEON converts them.
#pragma once
#include <cmath>

#include "kernels/simd/lanes_four.h"

namespace heed::simd {

struct Armv7Four : FourLanes<xsimd::neon> {
  using FourLanes<xsimd::neon>::store_bytes;

  static F max(F a, F b) { return F(vbslq_f32(vcgtq_f32(a, b), a, b)); }
  static F divide(F a, F b) {
    return each(a, b, [](float x, float y) { return x / y; });
  }
  static F sqrt(F x) {
    return each(x, x, [](float y, float) { return std::sqrt(y); });
  }
  static I nearest(F x) {
    const float32x4_t magic = vdupq_n_f32(0x1.8p23f);
    return I(vsubq_s32(vreinterpretq_s32_f32(vaddq_f32(x, magic)), vreinterpretq_s32_f32(magic)));
  }
  static void store_bytes(uint8_t* p, uint8_t flip, I a, I b, I c, I d) {
    const int8x8_t low = vqmovn_s16(vcombine_s16(vqmovn_s32(a), vqmovn_s32(b)));
    const int8x8_t high = vqmovn_s16(vcombine_s16(vqmovn_s32(c), vqmovn_s32(d)));
    vst1q_u8(p, veorq_u8(vreinterpretq_u8_s8(vcombine_s8(low, high)), vdupq_n_u8(flip)));
  }
  // `nearest` makes of a NaN a number whose low byte is 0.
  static void store_weights(uint8_t* p, I v) {
    const int16x4_t words = vmovn_s32(v);
    const uint32_t four = vget_lane_u32(vreinterpret_u32_s8(vmovn_s16(vcombine_s16(words, words))), 0);
    std::memcpy(p, &four, sizeof four);
  }
  static void store_weights(uint8_t* p, I a, I b, I c, I d) {
    const int8x8_t low = vmovn_s16(vcombine_s16(vmovn_s32(a), vmovn_s32(b)));
    const int8x8_t high = vmovn_s16(vcombine_s16(vmovn_s32(c), vmovn_s32(d)));
    vst1q_u8(p, vreinterpretq_u8_s8(vcombine_s8(low, high)));
  }
  // As ScalarLanes: what is subnormal as a half is an integer times 2^-24.
  static F load_half(const uint16_t* p) {
    const uint32x4_t half = vmovl_u16(vld1_u16(p));
    const uint32x4_t magnitude = vandq_u32(half, vdupq_n_u32(0x7fff));
    const uint32x4_t sign = vshlq_n_u32(vandq_u32(half, vdupq_n_u32(0x8000)), 16);
    const uint32x4_t shifted = vshlq_n_u32(magnitude, 13);
    const uint32x4_t small = vreinterpretq_u32_f32(vmulq_f32(vcvtq_f32_u32(magnitude), vdupq_n_f32(0x1p-24f)));
    const uint32x4_t normal = vaddq_u32(shifted, vdupq_n_u32(0x38000000));
    const uint32x4_t quiet = vandq_u32(vcgtq_u32(magnitude, vdupq_n_u32(0x7c00)), vdupq_n_u32(0x00400000));
    const uint32x4_t large = vorrq_u32(vorrq_u32(shifted, vdupq_n_u32(0x7f800000)), quiet);
    const uint32x4_t finite = vbslq_u32(vcltq_u32(magnitude, vdupq_n_u32(0x0400)), small, normal);
    const uint32x4_t value = vbslq_u32(vcltq_u32(magnitude, vdupq_n_u32(0x7c00)), finite, large);
    return F(vreinterpretq_f32_u32(vorrq_u32(value, sign)));
  }

  static float fold_add(F v) {
    const float32x2_t x = vadd_f32(vget_low_f32(v), vget_high_f32(v));
    return vget_lane_f32(vpadd_f32(x, x), 0);
  }
  static float fold_max(F v) {
    const float32x2_t x = vmax_f32(vget_low_f32(v), vget_high_f32(v));
    return vget_lane_f32(vpmax_f32(x, x), 0);
  }
  static int32_t fold_max_signed(I v) {
    const int32x2_t x = vmax_s32(vget_low_s32(v), vget_high_s32(v));
    return vget_lane_s32(vpmax_s32(x, x), 0);
  }
  static int32_t fold_max_unsigned(I v) {
    const uint32x4_t u = vreinterpretq_u32_s32(v);
    const uint32x2_t x = vmax_u32(vget_low_u32(u), vget_high_u32(u));
    return static_cast<int32_t>(vget_lane_u32(vpmax_u32(x, x), 0));
  }
  static int32_t fold_sum(I v) {
    const int32x2_t x = vadd_s32(vget_low_s32(v), vget_high_s32(v));
    return vget_lane_s32(vpadd_s32(x, x), 0);
  }

 private:
  template <class Operation>
  static F each(F a, F b, Operation operation) {
    float x[kLanes], y[kLanes];
    store(x, a);
    store(y, b);
    for (uint32_t i = 0; i < kLanes; ++i) x[i] = operation(x[i], y[i]);
    return load(x);
  }
};

struct Armv7Lanes : Several<Armv7Four, 2> {
  static constexpr uint32_t kProductRows = 2;
  static constexpr uint32_t kProductPanels = 1;
  static constexpr uint32_t kChains = 1;
  static constexpr bool kWeaves = false;
  static constexpr bool kFoldsFour = false;
};

}  // namespace heed::simd
