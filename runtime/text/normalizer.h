// Text into normalized words: lower-casing, accents, white space, punctuation and ideographs, by tables in the file.
// SPDX-License-Identifier: Apache-2.0
//
// What BERT's normalizer and its splitting into words do to a code point does not depend on its neighbours, so the
// converter works it out for each of them, and the file says: what it is to a word, and what stands for it there.
//
//   entry   kind (2 bits) | form (2 bits) | value (28 bits, signed)
//
// The first code points have their entry in `direct`, the others in `runs` of equal entries, found by halving:
// a tenth of the size of tables by page, and nothing in them can lead outside.
#pragma once
#include <cstdint>

#include "model_generated.h"

namespace heed {

enum class CharacterKind : uint32_t {
  letter,   // part of a word
  space,    // between words
  alone,    // a word of its own: punctuation, ideographs
  removed,  // as if it were not there
};

enum class CharacterForm : uint32_t {
  itself,
  shifted,   // value is added to the code point
  sequence,  // value is a place in `replacements`: a length, then that many packed code points
  hangul,    // a syllable, which becomes its two or three letters
};

inline constexpr uint32_t kRunEntryBits = 11;            // a code point has 21 bits
inline constexpr uint32_t kMaxEntries = 1u << kRunEntryBits;
inline constexpr uint32_t kMaxReplacement = 8;           // code points that stand for one
inline constexpr uint32_t kMaxWordCharacters = 100;

inline constexpr uint32_t pack_entry(CharacterKind kind, CharacterForm form, int32_t value) {
  return static_cast<uint32_t>(value) << 4 | static_cast<uint32_t>(form) << 2 | static_cast<uint32_t>(kind);
}
inline constexpr CharacterKind kind_of(uint32_t entry) { return static_cast<CharacterKind>(entry & 3); }
inline constexpr CharacterForm form_of(uint32_t entry) { return static_cast<CharacterForm>(entry >> 2 & 3); }

// A code point of `replacements` and of a word. The combining class is 0 but for a mark that stays and has an order
// among marks.
inline constexpr uint32_t pack_character(uint32_t code_point, uint32_t combining_class) {
  return combining_class << 24 | code_point;
}
inline constexpr uint32_t code_point_of(uint32_t packed) { return packed & 0x1FFFFFu; }
inline constexpr uint32_t combining_class_of(uint32_t packed) { return packed >> 24; }

// Bytes of the text.
struct Span {
  uint32_t begin;
  uint32_t end;
};

struct Word {
  Span span;
  uint32_t count;  // of characters; past kMaxWordCharacters they are no longer kept, and counted only once
  uint32_t characters[kMaxWordCharacters];  // packed
};

// The tables' answers. The vectors may be absent or hold anything: what leads outside counts as an unchanged letter.
class Normalizer {
 public:
  explicit Normalizer(const schema::Tokenizer& table)
      : direct_(table.direct()), runs_(table.runs()), entries_(table.entries()), replacements_(table.replacements()) {}

  uint32_t entry(uint32_t code_point) const;
  // The characters that stand for a code point with this entry: how many (0 for a removed one), and each, packed.
  uint32_t count(uint32_t code_point, uint32_t entry) const;
  uint32_t character(uint32_t code_point, uint32_t entry, uint32_t index) const;

 private:
  const ::flatbuffers::Vector<uint16_t>* direct_;
  const ::flatbuffers::Vector<uint32_t>* runs_;
  const ::flatbuffers::Vector<uint32_t>* entries_;
  const ::flatbuffers::Vector<uint32_t>* replacements_;
};

// Reads the words of a text one after another, in one pass and without a buffer of its own.
class WordReader {
 public:
  WordReader(const Normalizer& normalizer, const uint8_t* text, uint32_t bytes)
      : normalizer_(normalizer), text_(text), bytes_(bytes) {}

  // False at the end of the text.
  bool next(Word& word);

 private:
  const Normalizer& normalizer_;
  const uint8_t* text_;
  uint32_t bytes_;
  uint32_t position_ = 0;
};

// Walks over a word again to find where its pieces come from: few words have several, so a word does not keep it.
class SpanReader {
 public:
  SpanReader(const Normalizer& normalizer, const uint8_t* text, Span word)
      : normalizer_(normalizer), text_(text), end_(word.end), position_(word.begin), source_{word.begin, word.begin} {}

  // The bytes of the next `count` characters of the word, at least 1.
  Span next(uint32_t count);

 private:
  const Normalizer& normalizer_;
  const uint8_t* text_;
  uint32_t end_;
  uint32_t position_;
  Span source_;         // the character of the text that was read last
  uint32_t left_ = 0;   // characters of it that are still to be handed out
};

}  // namespace heed
