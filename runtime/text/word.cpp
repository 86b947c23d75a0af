// Words cut into tokens, and looked up.
// SPDX-License-Identifier: Apache-2.0
#include "text/word.h"

#include "text/spelling.h"

namespace heed {
namespace {

constexpr uint32_t kApostrophe = '\'';

uint32_t characters_in(Piece piece) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < piece.count; i += decode_utf8(piece.bytes + i, piece.count - i).bytes) ++count;
  return count;
}

}  // namespace

heed_status WordSplitter::check(const schema::Tokenizer& table) {
  if (!Vocabulary::valid(table) || table.unknown() >= table.vocabulary()) return HEED_CORRUPT;
  return table.apostrophe() > schema::ApostropheKind::MAX ? HEED_UNSUPPORTED : HEED_OK;
}

uint32_t WordSplitter::ending(const Word& word, uint32_t count) const {
  for (uint32_t i = 0; table_.endings() && i < table_.endings()->size(); ++i) {
    const Piece piece = {table_.endings()->Get(i)->Data(), table_.endings()->Get(i)->size()};
    const uint32_t length = characters_in(piece);
    if (length == 0 || length > count) continue;
    if (spells(piece, {}, word.characters + count - length, word.characters + count)) return length;
  }
  return 0;
}

uint32_t WordSplitter::cut(const Word& word, uint32_t* ends) const {
  bool cuts[kMaxWordCharacters + 1] = {};
  cuts[word.count] = true;
  uint32_t rest = word.count;
  uint32_t length = ending(word, rest);
  for (; length > 0 && length < rest; length = ending(word, rest)) cuts[rest -= length] = true;
  const auto is_apostrophe = [&](uint32_t i) { return code_point_of(word.characters[i]) == kApostrophe; };
  // What is an ending itself stays whole.
  const schema::ApostropheKind kind = length == rest ? schema::ApostropheKind::inside : table_.apostrophe();
  for (uint32_t i = 1; i < rest; ++i) {
    if (kind == schema::ApostropheKind::begins && is_apostrophe(i) && !is_apostrophe(i - 1)) cuts[i] = true;
    if (kind == schema::ApostropheKind::ends && is_apostrophe(i - 1)) cuts[i] = true;
  }
  uint32_t count = 0;
  for (uint32_t i = 1; i <= word.count; ++i) {
    if (cuts[i]) ends[count++] = i;
  }
  return count;
}

uint32_t WordSplitter::find(const Word& word, uint32_t begin, uint32_t end) const {
  uint32_t hash = kHashStart;
  for (uint32_t i = begin; i < end; ++i) hash = hash_step(hash, code_point_of(word.characters[i]));
  const uint32_t id = vocabulary_.find(
      hash, [&](Piece piece) { return spells(piece, {}, word.characters + begin, word.characters + end); });
  return id == kNoPiece ? table_.unknown() : id;
}

void WordSplitter::split(const uint8_t* text, uint32_t bytes, TokenSink& sink) const {
  WordReader reader(normalizer_, text, bytes);
  Word word;
  while (sink.count < sink.limit && reader.next(word)) {
    if (word.count > kMaxWordCharacters) {
      sink.push(table_.unknown(), word.span);
      continue;
    }
    uint32_t ends[kMaxWordCharacters];
    const uint32_t count = cut(word, ends);
    SpanReader spans(normalizer_, text, word.span);
    for (uint32_t i = 0, begin = 0; i < count; begin = ends[i++]) {
      sink.push(find(word, begin, ends[i]), spans.next(ends[i] - begin));
    }
  }
}

}  // namespace heed
