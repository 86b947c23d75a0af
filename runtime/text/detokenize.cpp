// Tokens joined to a text, as a person writes it.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "model/weight.h"
#include "text/joined.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace heed {
namespace {

using schema::ApostropheKind;

bool equal(Piece piece, const ::flatbuffers::String& text) {
  return piece.count == text.size() && std::memcmp(piece.bytes, text.data(), piece.count) == 0;
}

bool holds(const ::flatbuffers::Vector<uint32_t>* ids, uint32_t id) {
  for (uint32_t i = 0; ids && i < ids->size(); ++i) {
    if (ids->Get(i) == id) return true;
  }
  return false;
}

// Whether no space stands before the token, or none after it.
bool leans_back(const schema::Tokenizer& table, Piece piece) {
  if (table.apostrophe() == ApostropheKind::begins && piece.bytes[0] == '\'') return true;
  for (uint32_t i = 0; table.endings() && i < table.endings()->size(); ++i) {
    if (equal(piece, *table.endings()->Get(i))) return true;
  }
  for (uint32_t i = 0; piece.count == 1 && table.closing() && i < table.closing()->size(); ++i) {
    if (table.closing()->Data()[i] == piece.bytes[0]) return true;
  }
  return false;
}
bool leans_on(const schema::Tokenizer& table, Piece piece) {
  return table.apostrophe() == ApostropheKind::ends && piece.bytes[piece.count - 1] == '\'';
}

void join_words(const schema::Tokenizer& table, const DetokenizeRequest& request, Joined& out) {
  const Vocabulary vocabulary(table);
  bool glued = true;  // nothing stands before the first token
  for (uint32_t i = 0; i < request.count; ++i) {
    Piece piece = vocabulary.piece(request.ids[i]);
    if (request.copies && request.copies[i].text) {
      piece = {reinterpret_cast<const uint8_t*>(request.copies[i].text), request.copies[i].bytes};
    } else if (is_special(table, request.ids[i])) {
      continue;
    }
    if (piece.count == 0) continue;
    if (!glued && !leans_back(table, piece)) out.add(" ", 1);
    out.add(piece.bytes, piece.count);
    glued = leans_on(table, piece);
  }
}

void join(const schema::Tokenizer& table, const DetokenizeRequest& request, Joined& out) {
  table.kind() == schema::TokenizerKind::word ? join_words(table, request, out) : join_subwords(table, request, out);
}

}  // namespace

bool is_special(const schema::Tokenizer& table, uint32_t id) {
  if (holds(table.prefix(), id) || holds(table.suffix(), id)) return true;
  for (uint32_t i = 0; table.added() && i < table.added()->size(); ++i) {
    if (table.added()->Get(i)->id() == id) return table.added()->Get(i)->special();
  }
  return false;
}

heed_status detokenize(const schema::Tokenizer& table, const DetokenizeRequest& request, char* text, uint64_t capacity,
                       uint64_t* bytes) {
  *bytes = 0;
  if (table.kind() == schema::TokenizerKind::none) return HEED_NO_TOKENIZER;
  if (table.kind() == schema::TokenizerKind::wordpiece || table.kind() > schema::TokenizerKind::MAX) return HEED_UNSUPPORTED;
  if (!Vocabulary::valid(table)) return HEED_CORRUPT;
  for (uint32_t i = 0; i < request.count; ++i) {
    if (request.ids[i] >= table.vocabulary()) return HEED_BAD_INPUT;
  }
  Joined counter{nullptr, 0};
  join(table, request, counter);
  *bytes = counter.bytes;
  if (counter.bytes > capacity) return HEED_BUFFER_TOO_SMALL;
  Joined writer{text, 0};
  join(table, request, writer);
  return HEED_OK;
}

}  // namespace heed

extern "C" heed_status heed_detokenize(const heed_model* model, const heed_ids* ids, char* text, uint64_t capacity,
                                       uint64_t* bytes) {
  if (!bytes) return HEED_INVALID_ARGUMENT;
  *bytes = 0;
  if (!model || !model->root || !ids || (!ids->ids && ids->count != 0) || (!text && capacity != 0)) return HEED_INVALID_ARGUMENT;
  const heed::schema::Tokenizer* table = heed::tokenizer_of(*model, HEED_TARGET);
  if (!table) return HEED_NO_TOKENIZER;
  return heed::detokenize(*table, *ids, text, capacity, bytes);
}

extern "C" uint64_t heed_whole_characters(const char* text, uint64_t bytes) {
  const auto* const at = reinterpret_cast<const uint8_t*>(text);
  for (uint64_t back = 1; at && back <= 3 && back <= bytes; ++back) {
    const uint8_t lead = at[bytes - back];
    if (lead < 0xC0) {
      if (lead < 0x80) break;
      continue;
    }
    const uint32_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    // What cannot become a character is not waited for.
    const bool begun = lead >= 0xC2 && lead <= 0xF4 && heed::decode_utf8(at + bytes - back, back).bytes == back;
    return length > back && begun ? bytes - back : bytes;
  }
  return bytes;
}
