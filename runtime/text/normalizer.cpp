// Text into normalized words: what stands for a character, and the walk over the text.
// SPDX-License-Identifier: Apache-2.0
#include "text/normalizer.h"

#include "text/utf8.h"

namespace heed {
namespace {

// Korean syllables are in the order of their letters: 19 first ones, 21 vowels, and none or one of 27 last ones.
constexpr uint32_t kFirstSyllable = 0xAC00;
constexpr uint32_t kVowels = 21;
constexpr uint32_t kLasts = 28;

uint32_t hangul_letter(uint32_t syllable, uint32_t index) {
  const uint32_t place = syllable - kFirstSyllable;
  if (index == 0) return 0x1100 + place / (kVowels * kLasts);
  return index == 1 ? 0x1161 + place / kLasts % kVowels : 0x11A7 + place % kLasts;
}

// Marks that follow a letter are sorted by class, those of one class keep their order (canonical ordering).
void append(Word& word, uint32_t packed) {
  if (word.count < kMaxWordCharacters) {
    const uint32_t combining_class = combining_class_of(packed);
    uint32_t at = word.count;
    for (; combining_class != 0 && at > 0 && combining_class_of(word.characters[at - 1]) > combining_class; --at) {
      word.characters[at] = word.characters[at - 1];
    }
    word.characters[at] = packed;
  }
  if (word.count <= kMaxWordCharacters) ++word.count;  // one over is over
}

}  // namespace

uint32_t Normalizer::entry(uint32_t code_point) const {
  uint32_t index = 0;
  if (direct_ && code_point < direct_->size()) {
    index = direct_->Get(code_point);
  } else if (runs_) {
    // The last run that begins at or before the code point.
    const uint32_t key = code_point << kRunEntryBits | (kMaxEntries - 1);
    uint32_t first = 0;
    for (uint32_t left = runs_->size(); left > 0;) {
      const uint32_t half = left / 2;
      const bool after = runs_->Get(first + half) <= key;
      first += after ? half + 1 : 0;
      left = after ? left - half - 1 : half;
    }
    if (first == 0) return 0;
    index = runs_->Get(first - 1) & (kMaxEntries - 1);
  }
  return entries_ && index < entries_->size() ? entries_->Get(index) : 0;
}

uint32_t Normalizer::count(uint32_t code_point, uint32_t entry) const {
  const CharacterKind kind = kind_of(entry);
  if (kind == CharacterKind::removed || kind == CharacterKind::space) return 0;
  if (form_of(entry) == CharacterForm::hangul) return (code_point - kFirstSyllable) % kLasts == 0 ? 2 : 3;
  if (form_of(entry) != CharacterForm::sequence) return 1;
  const uint32_t at = entry >> 4;
  if (!replacements_ || at >= replacements_->size()) return 0;
  const uint32_t stored = replacements_->Get(at);
  return stored <= kMaxReplacement && stored < replacements_->size() - at ? stored : 0;
}

uint32_t Normalizer::character(uint32_t code_point, uint32_t entry, uint32_t index) const {
  switch (form_of(entry)) {
    case CharacterForm::itself: break;
    case CharacterForm::shifted:
      return code_point_of(code_point + static_cast<uint32_t>(static_cast<int32_t>(entry) >> 4));
    case CharacterForm::hangul: return code_point_of(hangul_letter(code_point, index));
    case CharacterForm::sequence: return replacements_->Get((entry >> 4) + 1 + index);
  }
  return code_point;
}

bool WordReader::next(Word& word) {
  word.count = 0;
  while (position_ < bytes_) {
    const Utf8Character in = decode_utf8(text_ + position_, bytes_ - position_);
    const uint32_t entry = normalizer_.entry(in.code_point);
    const CharacterKind kind = kind_of(entry);
    if (kind == CharacterKind::alone && word.count > 0) return true;  // it is the next word
    const uint32_t count = normalizer_.count(in.code_point, entry);
    if (count > 0) {
      if (word.count == 0) word.span.begin = position_;
      word.span.end = position_ + in.bytes;
    }
    for (uint32_t i = 0; i < count; ++i) append(word, normalizer_.character(in.code_point, entry, i));
    position_ += in.bytes;
    const bool ends = kind == CharacterKind::alone || kind == CharacterKind::space;
    if (ends && word.count > 0) return true;
  }
  return word.count > 0;
}

Span SpanReader::next(uint32_t count) {
  Span span = source_;
  for (bool first = true; count > 0;) {
    if (left_ > 0) {
      const uint32_t taken = left_ < count ? left_ : count;
      if (first) span.begin = source_.begin;
      first = false;
      span.end = source_.end;
      left_ -= taken;
      count -= taken;
      continue;
    }
    if (position_ >= end_) break;
    const Utf8Character in = decode_utf8(text_ + position_, end_ - position_);
    left_ = normalizer_.count(in.code_point, normalizer_.entry(in.code_point));
    source_ = {position_, position_ + in.bytes};
    position_ += in.bytes;
  }
  return span;
}

}  // namespace heed
