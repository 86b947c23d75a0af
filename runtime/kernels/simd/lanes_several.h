// Several vectors as one: the whole vocabulary of lanes.h, built from that of narrower lanes.
// SPDX-License-Identifier: Apache-2.0
//
// It serves twice. A core issues operations from a queue of about a hundred, which the dependent steps of one polynomial
// fill before the next vector begins: chains side by side run a fifth to a third faster. And where vectors are short
// (NEON has 4 lanes), a loop over several at once spends less of its instructions on counting and addresses.
#pragma once
#include <cstddef>
#include <utility>

#include "kernels/simd/lanes.h"

namespace heed::simd {

template <class L, size_t kCount>
struct Several {
  static constexpr uint32_t kLanes = kCount * L::kLanes;
  using LF = typename L::F;
  using LI = typename L::I;
  using LM = typename L::M;

  template <class V>
  struct Of;
  using F = Of<LF>;
  using I = Of<LI>;
  using M = Of<LM>;

  // operation(vectors number i of all arguments) for each i.
  template <class V, class Operation, class... Args>
  [[gnu::always_inline]] static Of<V> each(Operation operation, const Args&... args) {
    return each_of<V>(operation, std::make_index_sequence<kCount>(), args...);
  }
  template <class V, class Operation, size_t... i, class... Args>
  [[gnu::always_inline]] static Of<V> each_of(Operation operation, std::index_sequence<i...>, const Args&... args) {
    const auto one = [&](auto index) __attribute__((always_inline)) { return operation(args.v[index()]...); };
    return {{one(std::integral_constant<size_t, i>{})...}};
  }

  struct Numbers {
    struct {
      constexpr size_t operator[](size_t i) const { return i; }
    } v;
  };

  template <class V>
  struct Of {
    V v[kCount];
    [[gnu::always_inline]] friend Of operator+(const Of& a, const Of& b) {
      return each<V>([](V x, V y) __attribute__((always_inline)) { return x + y; }, a, b);
    }
    [[gnu::always_inline]] friend Of operator-(const Of& a, const Of& b) {
      return each<V>([](V x, V y) __attribute__((always_inline)) { return x - y; }, a, b);
    }
    [[gnu::always_inline]] friend Of operator*(const Of& a, const Of& b) {
      return each<V>([](V x, V y) __attribute__((always_inline)) { return x * y; }, a, b);
    }
    [[gnu::always_inline]] friend M operator<(const Of& a, const Of& b) {
      return each<LM>([](V x, V y) __attribute__((always_inline)) { return x < y; }, a, b);
    }
    [[gnu::always_inline]] friend M operator>(const Of& a, const Of& b) { return b < a; }
    [[gnu::always_inline]] friend M operator<=(const Of& a, const Of& b) {
      return each<LM>([](V x, V y) __attribute__((always_inline)) { return x <= y; }, a, b);
    }
    [[gnu::always_inline]] friend M operator==(const Of& a, const Of& b) {
      return each<LM>([](V x, V y) __attribute__((always_inline)) { return x == y; }, a, b);
    }
  };

  [[gnu::always_inline]] static F set(float x) {
    return each<LF>([&](size_t) __attribute__((always_inline)) { return L::set(x); }, Numbers());
  }
  [[gnu::always_inline]] static I set(int32_t x) {
    return each<LI>([&](size_t) __attribute__((always_inline)) { return L::set(x); }, Numbers());
  }
  [[gnu::always_inline]] static F load(const float* p) {
    return each<LF>([&](size_t i) __attribute__((always_inline)) { return L::load(p + i * L::kLanes); }, Numbers());
  }
  [[gnu::always_inline]] static I load(const int32_t* p) {
    return each<LI>([&](size_t i) __attribute__((always_inline)) { return L::load(p + i * L::kLanes); }, Numbers());
  }
  [[gnu::always_inline]] static void store(float* p, const F& x) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i) L::store(p + i * L::kLanes, x.v[i]);
  }
  [[gnu::always_inline]] static void store(int32_t* p, const I& x) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i) L::store(p + i * L::kLanes, x.v[i]);
  }
  [[gnu::always_inline]] static F load_part(const float* p, uint32_t count) {
    return each<LF>([&](size_t i) __attribute__((always_inline)) { return L::load_part(p + i * L::kLanes, part(count, i)); }, Numbers());
  }
  [[gnu::always_inline]] static I load_part(const int32_t* p, uint32_t count) {
    return each<LI>([&](size_t i) __attribute__((always_inline)) { return L::load_part(p + i * L::kLanes, part(count, i)); }, Numbers());
  }
  [[gnu::always_inline]] static void store_part(float* p, const F& x, uint32_t count) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i) L::store_part(p + i * L::kLanes, x.v[i], part(count, i));
  }
  [[gnu::always_inline]] static M lanes_between(int32_t lo, int32_t hi) {
    return each<LM>(
        [&](size_t i) __attribute__((always_inline)) {
          const int32_t first = static_cast<int32_t>(i * L::kLanes);
          return L::lanes_between(lo - first, hi - first);
        },
        Numbers());
  }

  [[gnu::always_inline]] static F select(const M& m, const F& a, const F& b) {
    return each<LF>([](LM s, LF x, LF y) __attribute__((always_inline)) { return L::select(s, x, y); }, m, a, b);
  }
  [[gnu::always_inline]] static F max(const F& a, const F& b) {
    return each<LF>([](LF x, LF y) __attribute__((always_inline)) { return L::max(x, y); }, a, b);
  }
  [[gnu::always_inline]] static F at_least(const F& a, float low) {
    return each<LF>([&](LF x) __attribute__((always_inline)) { return L::at_least(x, low); }, a);
  }
  [[gnu::always_inline]] static F at_most(const F& a, float high) {
    return each<LF>([&](LF x) __attribute__((always_inline)) { return L::at_most(x, high); }, a);
  }
  [[gnu::always_inline]] static F divide(const F& a, const F& b) {
    return each<LF>([](LF x, LF y) __attribute__((always_inline)) { return L::divide(x, y); }, a, b);
  }
  [[gnu::always_inline]] static F sqrt(const F& a) {
    return each<LF>([](LF x) __attribute__((always_inline)) { return L::sqrt(x); }, a);
  }
  [[gnu::always_inline]] static F one_nan(const F& a) {
    return each<LF>([](LF x) __attribute__((always_inline)) { return L::one_nan(x); }, a);
  }
  [[gnu::always_inline]] static F storable(const F& a) {
    return each<LF>([](LF x) __attribute__((always_inline)) { return L::storable(x); }, a);
  }
  [[gnu::always_inline]] static F abs(const F& a) {
    return each<LF>([](LF x) __attribute__((always_inline)) { return L::abs(x); }, a);
  }
  [[gnu::always_inline]] static F least_magnitude(const F& a, float limit) {
    return each<LF>([&](LF x) __attribute__((always_inline)) { return L::least_magnitude(x, limit); }, a);
  }
  [[gnu::always_inline]] static I bits(const F& a) {
    return each<LI>([](LF x) __attribute__((always_inline)) { return L::bits(x); }, a);
  }
  [[gnu::always_inline]] static F from_bits(const I& a) {
    return each<LF>([](LI x) __attribute__((always_inline)) { return L::from_bits(x); }, a);
  }
  template <int n>
  [[gnu::always_inline]] static I shift_left(const I& a) {
    return each<LI>([](LI x) __attribute__((always_inline)) { return L::template shift_left<n>(x); }, a);
  }
  template <int n>
  [[gnu::always_inline]] static I shift_right(const I& a) {
    return each<LI>([](LI x) __attribute__((always_inline)) { return L::template shift_right<n>(x); }, a);
  }
  [[gnu::always_inline]] static I subtract(const I& a, const I& b) {
    return each<LI>([](LI x, LI y) __attribute__((always_inline)) { return L::subtract(x, y); }, a, b);
  }
  [[gnu::always_inline]] static I bit_and(const I& a, const I& b) {
    return each<LI>([](LI x, LI y) __attribute__((always_inline)) { return L::bit_and(x, y); }, a, b);
  }
  [[gnu::always_inline]] static I bit_or(const I& a, const I& b) {
    return each<LI>([](LI x, LI y) __attribute__((always_inline)) { return L::bit_or(x, y); }, a, b);
  }
  [[gnu::always_inline]] static I max_signed(const I& a, const I& b) {
    return each<LI>([](LI x, LI y) __attribute__((always_inline)) { return L::max_signed(x, y); }, a, b);
  }
  [[gnu::always_inline]] static I max_unsigned(const I& a, const I& b) {
    return each<LI>([](LI x, LI y) __attribute__((always_inline)) { return L::max_unsigned(x, y); }, a, b);
  }
  [[gnu::always_inline]] static I nearest(const F& a) {
    return each<LI>([](LF x) __attribute__((always_inline)) { return L::nearest(x); }, a);
  }
  [[gnu::always_inline]] static F to_float(const I& a) {
    return each<LF>([](LI x) __attribute__((always_inline)) { return L::to_float(x); }, a);
  }
  [[gnu::always_inline]] static I load_bytes(const int8_t* p) {
    return each<LI>([&](size_t i) __attribute__((always_inline)) { return L::load_bytes(p + i * L::kLanes); }, Numbers());
  }
  [[gnu::always_inline]] static F load_half(const uint16_t* p) {
    return each<LF>([&](size_t i) __attribute__((always_inline)) { return L::load_half(p + i * L::kLanes); }, Numbers());
  }
  [[gnu::always_inline]] static void store_bytes(uint8_t* p, uint8_t flip, const I& a) {
    if constexpr (kCount == 4) return L::store_bytes(p, flip, a.v[0], a.v[1], a.v[2], a.v[3]);
    for (size_t i = 0; i < kCount; ++i) L::store_bytes(p + i * L::kLanes, flip, a.v[i]);
  }
  [[gnu::always_inline]] static void store_bytes(uint8_t* p, uint8_t flip, const I& a, const I& b, const I& c,
                                                 const I& d) {
    store_bytes(p, flip, a);
    store_bytes(p + kLanes, flip, b);
    store_bytes(p + 2 * kLanes, flip, c);
    store_bytes(p + 3 * kLanes, flip, d);
  }
  [[gnu::always_inline]] static void store_groups(uint8_t* p, uint64_t apart, const I& a, const I& b, const I& c, const I& d) {
    static_assert(L::kLanes == 4);
#pragma GCC unroll 4
    for (size_t i = 0; i < kCount; ++i) L::store_bytes(p + i * apart, 0, a.v[i], b.v[i], c.v[i], d.v[i]);
  }
  [[gnu::always_inline]] static void store_weights(uint8_t* p, const I& a) {
    if constexpr (kCount == 4) return L::store_weights(p, a.v[0], a.v[1], a.v[2], a.v[3]);
    for (size_t i = 0; i < kCount; ++i) L::store_weights(p + i * L::kLanes, a.v[i]);
  }

  // Halves are combined until one vector is left.
  template <class V, class Operation>
  [[gnu::always_inline]] static V fold(Of<V> a, Operation operation) {
    static_assert(kCount == 1 || kCount == 2 || kCount == 4);
    if constexpr (kCount == 4) {
      a.v[0] = operation(a.v[0], a.v[2]);
      a.v[1] = operation(a.v[1], a.v[3]);
    }
    if constexpr (kCount >= 2) a.v[0] = operation(a.v[0], a.v[1]);
    return a.v[0];
  }
  [[gnu::always_inline]] static float fold_add(const F& a) {
    return L::fold_add(fold(a, [](LF x, LF y) __attribute__((always_inline)) { return x + y; }));
  }
  [[gnu::always_inline]] static float fold_max(const F& a) {
    return L::fold_max(fold(a, [](LF x, LF y) __attribute__((always_inline)) { return L::max(x, y); }));
  }
  [[gnu::always_inline]] static int32_t fold_max_signed(const I& a) {
    return L::fold_max_signed(fold(a, [](LI x, LI y) __attribute__((always_inline)) { return L::max_signed(x, y); }));
  }
  [[gnu::always_inline]] static int32_t fold_max_unsigned(const I& a) {
    return L::fold_max_unsigned(fold(a, [](LI x, LI y) __attribute__((always_inline)) { return L::max_unsigned(x, y); }));
  }
  [[gnu::always_inline]] static int32_t fold_sum(const I& a) {
    return L::fold_sum(fold(a, [](LI x, LI y) __attribute__((always_inline)) { return x + y; }));
  }

 private:
  // How many of the first `count` lanes lie in vector i.
  [[gnu::always_inline]] static uint32_t part(uint32_t count, size_t i) {
    const uint32_t first = static_cast<uint32_t>(i) * L::kLanes;
    return count <= first ? 0 : One<L>::least(count - first, L::kLanes);
  }
};

}  // namespace heed::simd
