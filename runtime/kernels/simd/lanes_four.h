// What both NEONs have of the vocabulary of lanes.h: one vector of 4.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arm_neon.h>

#include "kernels/simd/lanes_several.h"
#include "kernels/simd/lanes_xsimd.h"

namespace heed::simd {

template <class Arch>
struct FourLanes : XsimdLanes<Arch> {
  using Base = XsimdLanes<Arch>;
  using F = typename Base::F;
  using I = typename Base::I;
  using M = typename Base::M;
  using Base::kLanes;
  using Base::load;
  using Base::store;

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
  static F at_least(F x, float low) { return F(vmaxq_f32(x, vdupq_n_f32(low))); }
  static F at_most(F x, float high) { return F(vminq_f32(x, vdupq_n_f32(high))); }
  static F least_magnitude(F x, float limit) { return at_most(abs(x), limit); }
  static F one_nan(F x) { return F(vmaxq_f32(x, x)); }
  static F storable(F x) {
    // GCC 12 makes two instructions of vcagtq_f32.
    const float32x4_t least = vdupq_n_f32(kLeastStored), number = x;
    uint32x4_t small;
#ifdef __aarch64__
    asm("facgt %0.4s, %1.4s, %2.4s" : "=w"(small) : "w"(least), "w"(number));
#else
    asm("vacgt.f32 %q0, %q1, %q2" : "=w"(small) : "w"(least), "w"(number));
#endif
    return F(vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(number), small)));
  }
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
  static I load_bytes(const int8_t* p) {
    int32_t four;
    std::memcpy(&four, p, sizeof four);
    return I(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four))))));
  }
};

}  // namespace heed::simd
