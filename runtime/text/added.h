// Added tokens that are no special ones: found in a text before it is tokenized, spelled as they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "text/normalizer.h"
#include "text/token_sink.h"

namespace heed {

inline constexpr uint32_t kMaxAddedTokens = 1024;  // that are looked for

class AddedTokens {
 public:
  // HEED_CORRUPT: one has no text, or an id outside the vocabulary. HEED_UNSUPPORTED: too many, or a flag that this library does not have.
  static heed_status check(const schema::Tokenizer& table);

  // `table` must have passed `check`.
  explicit AddedTokens(const schema::Tokenizer& table);

  // Whether texts need not be searched.
  bool none() const { return !any_; }

  struct Match {
    uint32_t id;
    Span span;
  };
  // The first one of the text from `from` on, and the longest there; with the white space that it takes, but nothing before `from`.
  bool find(const uint8_t* text, uint32_t bytes, uint32_t from, Match* match) const;

 private:
  // Bytes of the text at `at` that spell the token, or 0.
  uint32_t spelled(const schema::AddedToken& token, const uint8_t* text, uint32_t bytes) const;

  const schema::Tokenizer& table_;
  Normalizer normalizer_;
  bool folds_;  // tokens that are looked for after normalizing may be spelled otherwise in a text
  bool any_ = false;
  uint32_t firsts_[8] = {};  // a bit for each byte that one may begin with
};

// The tokens of a text by `splitter`, with added tokens in their places.
template <class Splitter>
void split_around_added(const AddedTokens& added, const Splitter& splitter, const uint8_t* text, uint32_t bytes, TokenSink& sink) {
  if (added.none()) return splitter.split(text, bytes, sink);
  AddedTokens::Match match;
  uint32_t from = 0;
  while (sink.count < sink.limit && added.find(text, bytes, from, &match)) {
    sink.base = from;
    splitter.split(text + from, match.span.begin - from, sink);
    sink.base = 0;
    sink.push(match.id, match.span);
    from = match.span.end;
  }
  sink.base = from;
  if (sink.count < sink.limit) splitter.split(text + from, bytes - from, sink);
}

}  // namespace heed
