// A 64-bit xxHash as 16 hexadecimal digits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace heed::tools {

class Digest {
 public:
  Digest() : state_(XXH64_createState(), XXH64_freeState) { XXH64_reset(state_.get(), 0); }
  template <class T>
  void add(std::span<const T> values) {
    XXH64_update(state_.get(), values.data(), values.size_bytes());
  }
  std::string text() const {
    constexpr char kHex[] = "0123456789abcdef";
    const uint64_t hash = XXH64_digest(state_.get());
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += kHex[hash >> shift & 15];
    return text;
  }

 private:
  std::unique_ptr<XXH64_state_t, XXH_errorcode (*)(XXH64_state_t*)> state_;
};

}  // namespace heed::tools
