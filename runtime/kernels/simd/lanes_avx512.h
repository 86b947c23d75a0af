// The vocabulary of lanes.h for AVX-512: 16 lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include "kernels/simd/lanes_xsimd.h"

namespace heed::simd {

struct Avx512Lanes : XsimdLanes<xsimd::avx512bw> {
  static constexpr uint32_t kProductRows = 8;
  static constexpr uint32_t kProductPanels = kForSize ? 1 : 2;
  static constexpr uint32_t kChains = kForSize ? 1 : 4;
  static constexpr bool kWeaves = false;
  static constexpr bool kFoldsFour = !kForSize;

  static __mmask16 first(uint32_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  static F load_part(const float* p, uint32_t count) { return F(_mm512_maskz_loadu_ps(first(count), p)); }
  static I load_part(const int32_t* p, uint32_t count) { return I(_mm512_maskz_loadu_epi32(first(count), p)); }
  static void store_part(float* p, F v, uint32_t count) { _mm512_mask_storeu_ps(p, first(count), v); }
  static M lanes_between(int32_t lo, int32_t hi) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __mmask16 from = _mm512_cmpge_epi32_mask(lane, _mm512_set1_epi32(lo));
    return M(_mm512_mask_cmplt_epi32_mask(from, lane, _mm512_set1_epi32(hi)));
  }

  static F max(F a, F b) { return F(_mm512_max_ps(a, b)); }
  static F at_least(F x, float low) { return F(_mm512_max_ps(_mm512_set1_ps(low), x)); }
  static F at_most(F x, float high) { return F(_mm512_min_ps(_mm512_set1_ps(high), x)); }
  static F least_magnitude(F x, float limit) {
    return F(_mm512_range_ps(x, _mm512_set1_ps(limit), 0b1010));  // the lesser magnitude, made positive
  }
  static F storable(F x) {
    // Small lanes become 0 by the mask; of the others, NaNs (classes 0 and 1) keep the first operand, all else the
    // second.
    const __mmask16 normal = _mm512_cmp_ps_mask(abs(x), _mm512_set1_ps(kLeastStored), _CMP_NLT_UQ);
    const __m512i classes = _mm512_set1_epi32(0x11111100);
    return F(_mm512_maskz_fixupimm_ps(normal, from_bits(set(kNanBits)), x, classes, 0));
  }
  static F one_nan(F x) { return x; }
  static F divide(F a, F b) { return F(_mm512_div_ps(a, b)); }
  static F sqrt(F x) { return F(_mm512_sqrt_ps(x)); }
  static I nearest(F x) { return I(_mm512_cvtps_epi32(x)); }
  static I max_signed(I a, I b) { return I(_mm512_max_epi32(a, b)); }
  static I max_unsigned(I a, I b) { return I(_mm512_max_epu32(a, b)); }

  static void store_bytes(uint8_t* p, uint8_t flip, I v) {
    const __m128i bytes = _mm_xor_si128(_mm512_cvtsepi32_epi8(v), _mm_set1_epi8(static_cast<char>(flip)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
  }
  static void store_bytes(uint8_t* p, uint8_t flip, I a, I b, I c, I d) {
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    store_in_order(p, _mm512_xor_si512(bytes, _mm512_set1_epi8(static_cast<char>(flip))));
  }
  static void store_groups(uint8_t* p, uint64_t apart, I a, I b, I c, I d) {
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_castsi512_si128(bytes));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + apart), _mm512_extracti32x4_epi32(bytes, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 2 * apart), _mm512_extracti32x4_epi32(bytes, 2));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 3 * apart), _mm512_extracti32x4_epi32(bytes, 3));
  }
  static void store_weights(uint8_t* p, I v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v));
  }
  static void store_weights(uint8_t* p, I a, I b, I c, I d) {
    store_in_order(p, _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d)));
  }
  static I load_bytes(const int8_t* p) {
    return I(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static F load_half(const uint16_t* p) {
    return F(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
  }

  static float fold_add(F v) {
    const __m256 y = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
  }
  static float fold_max(F v) {
    const __m256 y = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 x = _mm_max_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
  }
  static int32_t fold_max_signed(I v) { return _mm512_reduce_max_epi32(v); }
  static int32_t fold_max_unsigned(I v) { return static_cast<int32_t>(_mm512_reduce_max_epu32(v)); }
  static int32_t fold_sum(I v) { return _mm512_reduce_add_epi32(v); }

  static void fold_add_four(const F (&v)[4], float* out) {
    _mm_storeu_ps(out, fold_four(v, [](__m512 a, __m512 b) __attribute__((always_inline)) { return _mm512_add_ps(a, b); }));
  }
  static void fold_max_four(const F (&v)[4], float* out) {
    _mm_storeu_ps(out, fold_four(v, [](__m512 a, __m512 b) __attribute__((always_inline)) { return _mm512_max_ps(a, b); }));
  }
  static void fold_max_signed_four(const I (&v)[4], int32_t* out) {
    fold_integers(v, out, [](__m512i a, __m512i b) __attribute__((always_inline)) { return _mm512_max_epi32(a, b); });
  }
  static void fold_max_unsigned_four(const I (&v)[4], int32_t* out) {
    fold_integers(v, out, [](__m512i a, __m512i b) __attribute__((always_inline)) { return _mm512_max_epu32(a, b); });
  }
  static void fold_sum_four(const I (&v)[4], int32_t* out) {
    fold_integers(v, out, [](__m512i a, __m512i b) __attribute__((always_inline)) { return _mm512_add_epi32(a, b); });
  }

 private:
  // Halves of two vectors are combined in one step, then quarters of four.
  template <class V, class Operation>
  [[gnu::always_inline]] static __m128 fold_four(const V (&v)[4], Operation operation) {
    const __m512 ab = operation(_mm512_shuffle_f32x4(v[0], v[1], 0x44), _mm512_shuffle_f32x4(v[0], v[1], 0xee));
    const __m512 cd = operation(_mm512_shuffle_f32x4(v[2], v[3], 0x44), _mm512_shuffle_f32x4(v[2], v[3], 0xee));
    __m512 x = operation(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
    x = operation(x, _mm512_permute_ps(x, 0x4e));
    x = operation(x, _mm512_permute_ps(x, 0xb1));
    const __m512i firsts = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return _mm512_castps512_ps128(_mm512_permutexvar_ps(firsts, x));
  }
  template <class Operation>
  [[gnu::always_inline]] static void fold_integers(const I (&v)[4], int32_t* out, Operation operation) {
    const __m512 all[4] = {from_bits(v[0]), from_bits(v[1]), from_bits(v[2]), from_bits(v[3])};
    _mm_storeu_ps(reinterpret_cast<float*>(out), fold_four(all, [&](__m512 a, __m512 b) __attribute__((always_inline)) {
      return _mm512_castsi512_ps(operation(_mm512_castps_si512(a), _mm512_castps_si512(b)));
    }));
  }
  // Packs work in quarters of 16 bytes: a0 b0 c0 d0 | a1 b1 c1 d1 | ..., each of 4 bytes.
  static void store_in_order(uint8_t* p, __m512i bytes) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(p, _mm512_permutexvar_epi32(order, bytes));
  }
};

}  // namespace heed::simd
