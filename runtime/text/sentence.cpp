// SentencePiece's normalizer, a character at a time.
// SPDX-License-Identifier: Apache-2.0
#include "text/sentence.h"

#include "text/utf8.h"
#include "text/white_space.h"

namespace heed {
namespace {

constexpr uint8_t kSpaceBytes[] = {0xE2, 0x96, 0x81};
constexpr uint8_t kReplacementBytes[] = {0xEF, 0xBF, 0xBD};

}  // namespace

SentenceReader::SentenceReader(const schema::Tokenizer& table, const uint8_t* text, uint32_t bytes)
    : table_(table), charsmap_(table.charsmap()), text_(text), bytes_(bytes), after_space_(table.collapse_spaces()), end_(bytes) {}

bool SentenceReader::replacement(const uint8_t* text, uint32_t bytes, Group& group, uint32_t* taken) const {
  const auto* replacements = table_.charsmap_text();
  if (charsmap_.empty() || !replacements) return false;
  uint32_t place = 0;
  *taken = 0;
  Trie::Walk walk(charsmap_);
  for (uint32_t i = 0; i < bytes && i < kMaxReplacedBytes && walk.step(text[i]); ++i) {
    uint32_t found = 0;
    if (walk.ends(&found) && found < replacements->size()) {
      *taken = i + 1;
      place = found;
    }
  }
  if (*taken == 0) return false;
  const uint32_t room = replacements->size() - place;
  group.at = replacements->data() + place;
  for (group.left = 0; group.left < room && group.left < kMaxReplacementBytes && group.at[group.left] != 0;) ++group.left;
  return true;
}

SentenceReader::Group SentenceReader::read(uint32_t* position) const {
  Group group = {text_ + *position, 0, *position, 0};
  uint32_t taken = 0;
  if (replacement(text_ + *position, bytes_ - *position, group, &taken)) {
    group.end = *position += taken;
    return group;
  }
  const Utf8Character in = decode_utf8(text_ + *position, bytes_ - *position);
  const bool valid = in.code_point != kReplacementCharacter || (in.bytes == 3 && text_[*position] == kReplacementBytes[0]);
  group.end = *position += in.bytes;
  group.left = in.bytes;
  if (valid || replacement(kReplacementBytes, 3, group, &taken)) return group;
  group.at = kReplacementBytes;
  group.left = 3;
  return group;
}

bool SentenceReader::is_space(const Group& group, uint32_t* bytes) const {
  const Utf8Character in = decode_utf8(group.at, group.left);
  *bytes = in.bytes;
  return in.code_point == ' ' || (table_.any_white_space() && is_white_space(in.code_point));
}

bool SentenceReader::is_symbol(const Group& group) const { return decode_utf8(group.at, group.left).code_point == kSpaceSymbol; }

bool SentenceReader::is_trimmed(const Group& group, uint32_t* bytes) const {
  if (table_.trim_end() == schema::TrimKind::spaces) return is_space(group, bytes) || is_symbol(group);
  const Utf8Character in = decode_utf8(group.at, group.left);
  *bytes = in.bytes;
  return is_white_space(in.code_point);
}

// Spaces that lead a group are dropped where another one was before; those inside it stay.
void SentenceReader::open_group() {
  group_ = read(&position_);
  const bool removed = group_.left == 0;
  uint32_t bytes = 0;
  while (table_.collapse_spaces() && after_space_ && group_.left > 0 && is_space(group_, &bytes)) {
    group_.at += bytes;
    group_.left -= bytes;
  }
  for (Group rest = group_; rest.left > 0; rest.at += bytes, rest.left -= bytes) after_space_ = is_space(rest, &bytes);
  if (!begun_ && (removed || group_.left > 0)) {
    begun_ = true;
    start_ = group_.begin;
  }
}

bool SentenceReader::only_trimmed_follow() {
  uint32_t bytes = 0;
  for (Group rest = group_; rest.left > 0; rest.at += bytes, rest.left -= bytes) {
    if (!is_trimmed(rest, &bytes)) return false;
  }
  if (solid_ >= position_ && solid_ > 0) return false;
  for (uint32_t at = position_; at < bytes_;) {
    for (Group rest = read(&at); rest.left > 0; rest.at += bytes, rest.left -= bytes) {
      if (is_trimmed(rest, &bytes)) continue;
      solid_ = rest.begin;
      return false;
    }
  }
  return true;
}

bool SentenceReader::fill_group() {
  while (group_.left == 0) {
    if (position_ >= bytes_) return false;
    open_group();
  }
  return true;
}

// Most characters of most texts: visible ones of ASCII that nothing replaces.
bool SentenceReader::next_plain(SentenceUnit& unit) {
  if (group_.left > 0 || position_ >= bytes_) return false;
  const uint8_t byte = text_[position_];
  if (byte <= ' ' || byte >= 0x7F) return false;
  Trie::Walk walk(charsmap_);
  uint32_t ignored = 0;
  if (walk.step(byte) && (walk.ends(&ignored) || (position_ + 1 < bytes_ && walk.step(text_[position_ + 1])))) return false;
  if (!begun_) start_ = position_;
  begun_ = true;
  after_space_ = word_is_due_ = false;
  unit = {text_ + position_, 1, position_, position_ + 1, false};
  ++position_;
  return true;
}

bool SentenceReader::next_unit(SentenceUnit& unit) {
  if (next_plain(unit)) return true;
  if (!fill_group()) return false;
  uint32_t bytes = 0;
  bool space = is_space(group_, &bytes);
  if (word_is_due_ && !space && is_symbol(group_)) {  // it is the space before its word
    group_.at += bytes;
    group_.left -= bytes;
    word_is_due_ = false;
    if (!fill_group()) return false;
    space = is_space(group_, &bytes);
  }
  if (table_.trim_end() != schema::TrimKind::none && is_trimmed(group_, &bytes) && only_trimmed_follow()) {
    end_ = group_.begin;
    position_ = bytes_;
    group_.left = 0;
    return false;
  }
  unit.space = space || is_symbol(group_);
  unit.begin = group_.begin;
  unit.end = group_.end;
  unit.bytes = unit.space ? kSpaceBytes : group_.at;
  unit.count = unit.space ? 3 : bytes;
  word_is_due_ = space && table_.any_white_space();
  group_.at += bytes;
  group_.left -= bytes;
  return true;
}

bool SentenceReader::next(SentenceUnit& unit) {
  if (held_) {
    unit = waiting_;
    held_ = false;
    return true;
  }
  if (!next_unit(unit)) return false;
  const schema::PrefixSpace prefix = table_.prefix_space();
  const bool wanted = prefix == schema::PrefixSpace::always || (prefix == schema::PrefixSpace::unless_space && !unit.space);
  if (at_start_ && wanted) {
    waiting_ = unit;
    held_ = true;
    unit = {kSpaceBytes, 3, start_, unit.begin, true};
  }
  at_start_ = false;
  return true;
}

}  // namespace heed
