// Unigram: of all ways to cut a run into pieces, the one whose scores add up to most.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "heed/heed.h"
#include "text/token_sink.h"
#include "text/vocabulary.h"

namespace heed {

class Unigram {
 public:
  // HEED_CORRUPT: the table contradicts itself. HEED_UNSUPPORTED: a rule that this library does not have.
  static heed_status check(const schema::Tokenizer& table);

  // `table` must have passed `check`.
  explicit Unigram(const schema::Tokenizer& table) : table_(table) {}

  // The tokens of a text, without special ones; stops at the first run that reaches the sink's limit. A run gives at most
  // kWindow tokens at a time, so the count goes at most that far beyond. Uses about 6 KB of stack.
  void split(const uint8_t* text, uint32_t bytes, TokenSink& sink) const;

 private:
  const schema::Tokenizer& table_;
};

}  // namespace heed
