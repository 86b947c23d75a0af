// Bytes of a text that is put together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>

#include "text/tokenizer.h"

namespace heed {

// Bytes that go where there is room, and are counted anyway.
struct Joined {
  char* text;
  uint64_t bytes;
  void add(const void* from, uint64_t count) {
    if (text && count > 0) std::memcpy(text + bytes, from, count);
    bytes += count;
  }
};

// Whether a token says nothing: what begins or ends an output, and other special tokens.
bool is_special(const schema::Tokenizer& table, uint32_t id);

// The text of subwords (kinds bpe and unigram).
void join_subwords(const schema::Tokenizer& table, const DetokenizeRequest& request, Joined& out);

}  // namespace heed
