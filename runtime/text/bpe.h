// Byte-pair encoding: neighbours are merged, the most important pair first, until no two neighbours have a merge.
// SPDX-License-Identifier: Apache-2.0
//
// Two kinds of units: bytes of GPT-2's words (split gpt2), or characters of a sentence. A run that is a piece as a whole is looked
// up first: the table's hash has only pieces for which merging gives the same.
#pragma once
#include <cstdint>

#include "heed/heed.h"
#include "text/merges.h"
#include "text/normalizer.h"
#include "text/token_sink.h"

namespace heed {

class Bpe {
 public:
  // HEED_CORRUPT: the table contradicts itself. HEED_UNSUPPORTED: a rule that this library does not have.
  static heed_status check(const schema::Tokenizer& table);

  // `table` must have passed `check`.
  explicit Bpe(const schema::Tokenizer& table) : table_(table), classes_(table), vocabulary_(table), merges_(table) {}

  // The tokens of a text, without special ones; stops at the first run that reaches the sink's limit. A run gives at most
  // kWindow tokens at a time, so the count goes at most that far beyond. Uses about 6 KB of stack.
  void split(const uint8_t* text, uint32_t bytes, TokenSink& sink) const;

 private:
  void split_words(const uint8_t* text, uint32_t bytes, TokenSink& sink) const;

  const schema::Tokenizer& table_;
  Normalizer classes_;
  Vocabulary vocabulary_;
  Merges merges_;
};

}  // namespace heed
