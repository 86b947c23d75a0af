// The search for added tokens: byte by byte, or character by character where these are normalized first.
// SPDX-License-Identifier: Apache-2.0
#include "text/added.h"

#include <cstring>

#include "text/utf8.h"
#include "text/white_space.h"

namespace heed {
namespace {

// Characters that stand for those of a text, one after another.
class Folded {
 public:
  Folded(const Normalizer& normalizer, const uint8_t* text, uint32_t bytes) : normalizer_(normalizer), text_(text), bytes_(bytes) {}

  // False at the end.
  bool next(uint32_t* character) {
    while (index_ >= count_) {
      if (position_ >= bytes_) return false;
      const Utf8Character in = decode_utf8(text_ + position_, bytes_ - position_);
      position_ += in.bytes;
      code_point_ = in.code_point;
      entry_ = normalizer_.entry(in.code_point);
      space_ = kind_of(entry_) == CharacterKind::space;
      count_ = space_ ? 1 : normalizer_.count(in.code_point, entry_);
      index_ = 0;
    }
    *character = space_ ? ' ' : code_point_of(normalizer_.character(code_point_, entry_, index_));
    ++index_;
    return true;
  }
  // Whether all that stands for the last character of the text was read, and where that one ends.
  bool whole() const { return index_ >= count_; }
  uint32_t position() const { return position_; }

 private:
  const Normalizer& normalizer_;
  const uint8_t* text_;
  uint32_t bytes_;
  uint32_t position_ = 0;
  uint32_t code_point_ = 0;
  uint32_t entry_ = 0;
  uint32_t index_ = 0;
  uint32_t count_ = 0;
  bool space_ = false;
};

uint32_t spaces_after(const uint8_t* text, uint32_t bytes, uint32_t at) {
  while (at < bytes) {
    const Utf8Character in = decode_utf8(text + at, bytes - at);
    if (!is_white_space(in.code_point)) break;
    at += in.bytes;
  }
  return at;
}

uint32_t spaces_before(const uint8_t* text, uint32_t from, uint32_t at) {
  while (at > from) {
    uint32_t back = at - 1;
    while (back > from && (text[back] & 0xC0) == 0x80 && at - back < 4) --back;
    const Utf8Character in = decode_utf8(text + back, at - back);
    if (in.bytes != at - back || !is_white_space(in.code_point)) break;
    at = back;
  }
  return at;
}

}  // namespace

heed_status AddedTokens::check(const schema::Tokenizer& table) {
  uint32_t count = 0;
  for (uint32_t i = 0; table.added() && i < table.added()->size(); ++i) {
    const schema::AddedToken& token = *table.added()->Get(i);
    if (token.special()) continue;
    if (token.text()->size() == 0 || token.id() >= table.vocabulary()) return HEED_CORRUPT;
    if (token.single_word() || ++count > kMaxAddedTokens) return HEED_UNSUPPORTED;
  }
  return HEED_OK;
}

AddedTokens::AddedTokens(const schema::Tokenizer& table)
    : table_(table), normalizer_(table), folds_(table.kind() == schema::TokenizerKind::wordpiece) {
  for (uint32_t i = 0; table.added() && i < table.added()->size(); ++i) {
    const schema::AddedToken& token = *table.added()->Get(i);
    if (token.special()) continue;
    any_ = true;
    const uint8_t first = token.text()->Data()[0];
    firsts_[first >> 5] |= 1u << (first & 31);
    if (!token.normalized() || !folds_) continue;
    for (uint32_t& bits : firsts_) bits = 0xFFFFFFFFu;  // any character may be what its first one becomes
  }
}

uint32_t AddedTokens::spelled(const schema::AddedToken& token, const uint8_t* text, uint32_t bytes) const {
  const uint32_t count = token.text()->size();
  if (!folds_ || !token.normalized()) return count <= bytes && std::memcmp(text, token.text()->Data(), count) == 0 ? count : 0;
  Folded wanted(normalizer_, token.text()->Data(), count);
  Folded found(normalizer_, text, bytes);
  uint32_t a = 0;
  uint32_t b = 0;
  bool any = false;
  while (wanted.next(&a)) {
    if (!found.next(&b) || a != b) return 0;
    any = true;
  }
  return any && found.whole() ? found.position() : 0;
}

bool AddedTokens::find(const uint8_t* text, uint32_t bytes, uint32_t from, Match* match) const {
  for (uint32_t at = from; at < bytes; ++at) {
    if ((firsts_[text[at] >> 5] >> (text[at] & 31) & 1) == 0 || (text[at] & 0xC0) == 0x80) continue;
    const schema::AddedToken* best = nullptr;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < table_.added()->size(); ++i) {
      const schema::AddedToken& token = *table_.added()->Get(i);
      const uint32_t length = token.special() ? 0 : spelled(token, text + at, bytes - at);
      if (length > longest) longest = length, best = &token;
    }
    if (!best) continue;
    match->id = best->id();
    match->span.begin = best->lstrip() ? spaces_before(text, from, at) : at;
    match->span.end = best->rstrip() ? spaces_after(text, bytes, at + longest) : at + longest;
    return true;
  }
  return false;
}

}  // namespace heed
