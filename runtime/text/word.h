// Word tokens: a text is cut into words and punctuation, words at apostrophes and known endings; each is looked up whole.
// SPDX-License-Identifier: Apache-2.0
//
//     English   "Don't you love it?"          do n't you love it ?         apostrophe begins, endings "n't"
//     French    "Regarde-moi, je t'aime."     regarde -moi , je t' aime .  apostrophe ends, endings "-moi", ...
//
// The normalizer says what is a space, what is a token of its own, and what is written in lower case. Of a word then the
// endings are cut off, as long as something is left before them; what remains is cut before each apostrophe that follows
// another character (begins), or behind each apostrophe (ends).
#pragma once
#include <cstdint>

#include "heed/heed.h"
#include "text/normalizer.h"
#include "text/token_sink.h"
#include "text/vocabulary.h"

namespace heed {

class WordSplitter {
 public:
  // HEED_CORRUPT: the table contradicts itself. HEED_UNSUPPORTED: a rule that this library does not have.
  static heed_status check(const schema::Tokenizer& table);

  // `table` must have passed `check`.
  explicit WordSplitter(const schema::Tokenizer& table) : table_(table), normalizer_(table), vocabulary_(table) {}

  // The tokens of a text, without special ones; stops as WordPiece::split does. What the vocabulary does not have, and a
  // word of more than kMaxWordCharacters, is the unknown token.
  void split(const uint8_t* text, uint32_t bytes, TokenSink& sink) const;

 private:
  // Where the tokens of a word end; `ends` has room for kMaxWordCharacters. Returns how many there are.
  uint32_t cut(const Word& word, uint32_t* ends) const;
  // Characters of the ending that the first `count` characters of the word have, or 0.
  uint32_t ending(const Word& word, uint32_t count) const;
  uint32_t find(const Word& word, uint32_t begin, uint32_t end) const;

  const schema::Tokenizer& table_;
  Normalizer normalizer_;
  Vocabulary vocabulary_;
};

}  // namespace heed
