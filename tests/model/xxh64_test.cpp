// XXH64 against the reference library, whole and in pieces.
// SPDX-License-Identifier: Apache-2.0
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "model/xxh64.h"

TEST_CASE("XXH64 equals the reference for every length to 300, whole and in two pieces") {
  std::vector<uint8_t> bytes(300);
  std::iota(bytes.begin(), bytes.end(), 7);
  for (size_t n = 0; n <= bytes.size(); ++n) {
    const uint64_t expected = XXH64(bytes.data(), n, 0);
    REQUIRE(heed::xxh64(bytes.data(), n) == expected);
    for (size_t first : {size_t{0}, n / 3, n / 2, n}) {
      heed::Xxh64 hash;
      hash.update(bytes.data(), first);
      hash.update(bytes.data() + first, n - first);
      REQUIRE(hash.digest() == expected);
    }
    heed::Xxh64 seeded(12345);
    for (size_t i = 0; i < n; ++i) seeded.update(&bytes[i], 1);
    REQUIRE(seeded.digest() == XXH64(bytes.data(), n, 12345));
  }
}
