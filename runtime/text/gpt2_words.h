// A text cut as GPT-2's pattern cuts it, without running a pattern.
// SPDX-License-Identifier: Apache-2.0
//
//     's | 't | 're | 've | 'm | 'll | 'd | space? letters | space? digits | space? others | spaces, but for the last before a word | spaces
//
// The entry of a code point in the normalizer's tables is its class.
#pragma once
#include <cstdint>

#include "text/normalizer.h"

namespace heed {

enum class CharacterClass : uint32_t { letter, space, other, number };

struct Gpt2Word {
  Span span;
  bool led_by_space;  // one that is not in the text
  bool valid;         // all of it is UTF-8
};

class Gpt2WordReader {
 public:
  // `add_space`: the text is read as if a space stood before it.
  Gpt2WordReader(const Normalizer& classes, const uint8_t* text, uint32_t bytes, bool add_space)
      : classes_(classes), text_(text), bytes_(bytes), space_is_due_(add_space && bytes > 0) {}

  // False at the end of the text.
  bool next(Gpt2Word& word);

 private:
  CharacterClass class_at(uint32_t at, uint32_t* bytes, bool* valid) const;
  // Where the run of characters of one class that begins at `at` ends.
  uint32_t run_end(CharacterClass kind, uint32_t at, uint32_t* last, bool* valid) const;
  // Bytes of "'s", "'re", ... at the position, or 0.
  uint32_t contraction() const;
  void take_spaces(Gpt2Word& word);

  const Normalizer& classes_;
  const uint8_t* text_;
  uint32_t bytes_;
  uint32_t position_ = 0;
  bool space_is_due_;
};

}  // namespace heed
