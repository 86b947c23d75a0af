// WordPiece: the search for the longest pieces.
// SPDX-License-Identifier: Apache-2.0
#include "text/wordpiece.h"

#include "text/spelling.h"

namespace heed {

heed_status WordPiece::check(const schema::Tokenizer& table) {
  if (!Vocabulary::valid(table) || table.unknown() >= table.vocabulary()) return HEED_CORRUPT;
  return table.max_word_chars() > kMaxWordCharacters ? HEED_UNSUPPORTED : HEED_OK;
}

WordPiece::WordPiece(const schema::Tokenizer& table) : table_(table), normalizer_(table), vocabulary_(table) {
  if (const auto* lead = table.continuing_prefix()) continuing_ = {lead->Data(), lead->size()};
  for (uint32_t i = 0; i < continuing_.count;) {
    const Utf8Character in = decode_utf8(continuing_.bytes + i, continuing_.count - i);
    continuing_hash_ = hash_step(continuing_hash_, in.code_point);
    i += in.bytes;
  }
}

uint32_t WordPiece::find(const Word& word, uint32_t begin, uint32_t end, uint32_t hash) const {
  const Piece lead = begin == 0 ? Piece{} : continuing_;
  return vocabulary_.find(hash, [&](Piece piece) {
    return spells(piece, lead, word.characters + begin, word.characters + end);
  });
}

WordPiece::Match WordPiece::longest(const Word& word, uint32_t begin) const {
  const uint32_t start = begin == 0 ? kHashStart : continuing_hash_;
  const uint32_t left = word.count - begin;
  const uint32_t end = begin + (left < table_.longest_piece() ? left : table_.longest_piece());
  // Most words, and most ends of words, are one piece: that is tried first.
  uint32_t hash = start;
  for (uint32_t i = begin; i < end; ++i) hash = hash_step(hash, code_point_of(word.characters[i]));
  Match best = {find(word, begin, end, hash), end};
  if (best.id != kNoPiece) return best;
  hash = start;
  for (uint32_t i = begin; i + 1 < end; ++i) {
    hash = hash_step(hash, code_point_of(word.characters[i]));
    const uint32_t id = find(word, begin, i + 1, hash);
    if (id != kNoPiece) best = {id, i + 1};
  }
  return best;
}

void WordPiece::split_word(const Word& word, const uint8_t* text, TokenSink& sink) const {
  const uint32_t before = sink.count;
  const bool short_enough = word.count <= table_.max_word_chars();
  SpanReader spans(normalizer_, text, word.span);
  uint32_t begin = 0;
  while (short_enough && begin < word.count) {
    const Match match = longest(word, begin);
    if (match.id == kNoPiece || match.end == begin) break;
    const bool whole = begin == 0 && match.end == word.count;
    sink.push(match.id, whole ? word.span : spans.next(match.end - begin));
    begin = match.end;
  }
  if (begin == word.count) return;
  sink.count = before;  // one character that no piece has makes the whole word unknown
  sink.push(table_.unknown(), word.span);
}

void WordPiece::split(const uint8_t* text, uint32_t bytes, TokenSink& sink) const {
  WordReader reader(normalizer_, text, bytes);
  Word word;
  while (sink.count < sink.limit && reader.next(word)) split_word(word, text, sink);
}

}  // namespace heed
