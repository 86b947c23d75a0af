// WordPiece: each word of a text becomes the longest pieces of the vocabulary, from left to right.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "heed/heed.h"
#include "model_generated.h"
#include "text/normalizer.h"
#include "text/token_sink.h"
#include "text/vocabulary.h"

namespace heed {

class WordPiece {
 public:
  // HEED_CORRUPT: the table contradicts itself. HEED_UNSUPPORTED: its words are longer than this library's.
  static heed_status check(const schema::Tokenizer& table);

  // `table` must have passed `check`.
  explicit WordPiece(const schema::Tokenizer& table);

  // The tokens of a text, without special ones; stops at the first word that reaches the sink's limit. A word takes
  // at most kMaxWordCharacters tokens, so the count goes at most that far beyond.
  void split(const uint8_t* text, uint32_t bytes, TokenSink& sink) const;

 private:
  struct Match {
    uint32_t id;
    uint32_t end;  // in characters of the word
  };

  void split_word(const Word& word, const uint8_t* text, TokenSink& sink) const;
  // The longest piece that the word has at `begin`; id is kNoPiece if there is none.
  Match longest(const Word& word, uint32_t begin) const;
  // The piece that is exactly the characters begin .. end.
  uint32_t find(const Word& word, uint32_t begin, uint32_t end, uint32_t hash) const;

  const schema::Tokenizer& table_;
  Normalizer normalizer_;
  Vocabulary vocabulary_;
  Piece continuing_;
  uint32_t continuing_hash_ = kHashStart;
};

}  // namespace heed
