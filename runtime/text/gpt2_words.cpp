// Words, numbers, punctuation and spaces, each with the space before it.
// SPDX-License-Identifier: Apache-2.0
#include "text/gpt2_words.h"

#include "text/utf8.h"

namespace heed {

CharacterClass Gpt2WordReader::class_at(uint32_t at, uint32_t* bytes, bool* valid) const {
  const Utf8Character in = decode_utf8(text_ + at, bytes_ - at);
  *bytes = in.bytes;
  if (in.code_point == kReplacementCharacter && (in.bytes != 3 || text_[at] != 0xEF)) *valid = false;
  return static_cast<CharacterClass>(classes_.entry(in.code_point) & 3);
}

uint32_t Gpt2WordReader::run_end(CharacterClass kind, uint32_t at, uint32_t* last, bool* valid) const {
  while (at < bytes_) {
    uint32_t bytes = 0;
    bool fine = true;
    if (class_at(at, &bytes, &fine) != kind) break;
    *valid = *valid && fine;
    *last = at;
    at += bytes;
  }
  return at;
}

uint32_t Gpt2WordReader::contraction() const {
  if (bytes_ - position_ < 2 || text_[position_] != '\'') return 0;
  const uint8_t first = text_[position_ + 1];
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if (bytes_ - position_ < 3) return 0;
  const uint8_t second = text_[position_ + 2];
  return ((first == 'r' || first == 'v') && second == 'e') || (first == 'l' && second == 'l') ? 3 : 0;
}

// All spaces up to a word but the last one, which is a word's own or stands alone. A single one, and those at the end, are taken.
void Gpt2WordReader::take_spaces(Gpt2Word& word) {
  uint32_t last = position_;
  const uint32_t end = run_end(CharacterClass::space, position_, &last, &word.valid);
  const bool several = last > position_ || word.led_by_space;
  word.span = {position_, end < bytes_ && several ? last : end};
  position_ = word.span.end;
}

bool Gpt2WordReader::next(Gpt2Word& word) {
  if (position_ >= bytes_) return false;
  word.led_by_space = space_is_due_;
  word.valid = true;
  space_is_due_ = false;
  word.span.begin = position_;
  if (const uint32_t short_form = word.led_by_space ? 0 : contraction()) {
    word.span.end = position_ += short_form;
    return true;
  }
  uint32_t first = 0;
  bool ignored = true;
  CharacterClass kind = class_at(position_, &first, &ignored);
  uint32_t begin = position_;
  if (kind == CharacterClass::space && text_[position_] == ' ' && !word.led_by_space && position_ + 1 < bytes_) {
    uint32_t bytes = 0;
    const CharacterClass next = class_at(position_ + 1, &bytes, &ignored);
    if (next != CharacterClass::space) kind = next, begin = position_ + 1;
  }
  if (kind == CharacterClass::space) {
    take_spaces(word);
    return true;
  }
  uint32_t last = begin;
  word.span.end = position_ = run_end(kind, begin, &last, &word.valid);
  return true;
}

}  // namespace heed
