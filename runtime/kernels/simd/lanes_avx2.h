// The vocabulary of lanes.h for AVX2: 8 lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include "kernels/simd/lanes_xsimd.h"

namespace heed::simd {

struct Avx2Lanes : XsimdLanes<xsimd::avx2> {
  static constexpr uint32_t kProductRows = 4;
  static constexpr uint32_t kProductPanels = 1;
  static constexpr uint32_t kChains = kForSize ? 1 : 4;
  static constexpr bool kWeaves = false;
  static constexpr bool kFoldsFour = !kForSize;

  static __m256i first(uint32_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(count)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static F load_part(const float* p, uint32_t count) { return F(_mm256_maskload_ps(p, first(count))); }
  static I load_part(const int32_t* p, uint32_t count) { return I(_mm256_maskload_epi32(p, first(count))); }
  static void store_part(float* p, F v, uint32_t count) { _mm256_maskstore_ps(p, first(count), v); }
  static M lanes_between(int32_t lo, int32_t hi) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32(lo), lane);
    return M(_mm256_castsi256_ps(_mm256_andnot_si256(below, _mm256_cmpgt_epi32(_mm256_set1_epi32(hi), lane))));
  }

  static F max(F a, F b) { return F(_mm256_max_ps(a, b)); }
  static F at_least(F x, float low) { return F(_mm256_max_ps(_mm256_set1_ps(low), x)); }
  static F at_most(F x, float high) { return F(_mm256_min_ps(_mm256_set1_ps(high), x)); }
  static F least_magnitude(F x, float limit) { return at_most(abs(x), limit); }
  static F storable(F x) {
    const __m256 normal = _mm256_and_ps(x, _mm256_cmp_ps(abs(x), _mm256_set1_ps(kLeastStored), _CMP_GE_OQ));
    const __m256 nan = _mm256_and_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q), from_bits(set(kNanBits)));
    return F(_mm256_or_ps(normal, nan));
  }
  static F one_nan(F x) { return x; }
  static F divide(F a, F b) { return F(_mm256_div_ps(a, b)); }
  static F sqrt(F x) { return F(_mm256_sqrt_ps(x)); }
  static I nearest(F x) { return I(_mm256_cvtps_epi32(x)); }
  static I max_signed(I a, I b) { return I(_mm256_max_epi32(a, b)); }
  static I max_unsigned(I a, I b) { return I(_mm256_max_epu32(a, b)); }

  static void store_bytes(uint8_t* p, uint8_t flip, I v) {
    const __m128i words = halves(v);
    const __m128i bytes = _mm_xor_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(static_cast<char>(flip)));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), bytes);
  }
  static void store_bytes(uint8_t* p, uint8_t flip, I a, I b, I c, I d) {
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    store_in_order(p, _mm256_xor_si256(bytes, _mm256_set1_epi8(static_cast<char>(flip))));
  }
  static void store_groups(uint8_t* p, uint64_t apart, I a, I b, I c, I d) {
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(bytes));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + apart), _mm256_extracti128_si256(bytes, 1));
  }
  static void store_weights(uint8_t* p, I v) {
    const __m128i words = halves(v);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
  }
  static void store_weights(uint8_t* p, I a, I b, I c, I d) {
    store_in_order(p, _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d)));
  }
  static I load_bytes(const int8_t* p) {
    return I(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static F load_half(const uint16_t* p) {
    return F(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }

  static float fold_add(F v) {
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
  }
  static float fold_max(F v) {
    __m128 x = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
  }
  static int32_t fold_max_signed(I v) {
    __m128i x = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    x = _mm_max_epi32(x, _mm_shuffle_epi32(x, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
  }
  static int32_t fold_max_unsigned(I v) {
    __m128i x = _mm_max_epu32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    x = _mm_max_epu32(x, _mm_shuffle_epi32(x, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epu32(x, _mm_shuffle_epi32(x, 0xb1)));
  }
  static int32_t fold_sum(I v) {
    __m128i x = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
  }

  static void fold_add_four(const F (&v)[4], float* out) {
    _mm_storeu_ps(out, fold_four(v, [](__m256 a, __m256 b) __attribute__((always_inline)) { return _mm256_add_ps(a, b); }));
  }
  static void fold_max_four(const F (&v)[4], float* out) {
    _mm_storeu_ps(out, fold_four(v, [](__m256 a, __m256 b) __attribute__((always_inline)) { return _mm256_max_ps(a, b); }));
  }
  static void fold_max_signed_four(const I (&v)[4], int32_t* out) {
    fold_integers(v, out, [](__m256i a, __m256i b) __attribute__((always_inline)) { return _mm256_max_epi32(a, b); });
  }
  static void fold_max_unsigned_four(const I (&v)[4], int32_t* out) {
    fold_integers(v, out, [](__m256i a, __m256i b) __attribute__((always_inline)) { return _mm256_max_epu32(a, b); });
  }
  static void fold_sum_four(const I (&v)[4], int32_t* out) {
    fold_integers(v, out, [](__m256i a, __m256i b) __attribute__((always_inline)) { return _mm256_add_epi32(a, b); });
  }

 private:
  // Halves of two vectors are combined in one step, then quarters of four.
  template <class V, class Operation>
  [[gnu::always_inline]] static __m128 fold_four(const V (&v)[4], Operation operation) {
    const __m256 ac = operation(_mm256_permute2f128_ps(v[0], v[2], 0x20), _mm256_permute2f128_ps(v[0], v[2], 0x31));
    const __m256 bd = operation(_mm256_permute2f128_ps(v[1], v[3], 0x20), _mm256_permute2f128_ps(v[1], v[3], 0x31));
    __m256 x = operation(_mm256_shuffle_ps(ac, bd, 0x44), _mm256_shuffle_ps(ac, bd, 0xee));
    x = operation(x, _mm256_permute_ps(x, 0xb1));
    return _mm_shuffle_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1), 0x88);
  }
  template <class Operation>
  [[gnu::always_inline]] static void fold_integers(const I (&v)[4], int32_t* out, Operation operation) {
    const __m256 all[4] = {from_bits(v[0]), from_bits(v[1]), from_bits(v[2]), from_bits(v[3])};
    _mm_storeu_ps(reinterpret_cast<float*>(out), fold_four(all, [&](__m256 a, __m256 b) __attribute__((always_inline)) {
      return _mm256_castsi256_ps(operation(_mm256_castps_si256(a), _mm256_castps_si256(b)));
    }));
  }
  static __m128i halves(__m256i v) {
    return _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  }
  // Packs work in halves of 16 bytes: a0 b0 c0 d0 | a1 b1 c1 d1, each of 4 bytes.
  static void store_in_order(uint8_t* p, __m256i bytes) {
    const __m256i ordered = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), ordered);
  }
};

}  // namespace heed::simd
