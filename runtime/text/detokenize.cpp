// Word tokens joined to a text, as a person writes it.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "model/weight.h"
#include "text/tokenizer.h"
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

// Bytes that go where there is room, and are counted anyway.
struct Writer {
  char* text;
  uint64_t bytes;
  void add(const void* from, uint64_t count) {
    if (text && count > 0) std::memcpy(text + bytes, from, count);
    bytes += count;
  }
};

void join(const schema::Tokenizer& table, const DetokenizeRequest& request, Writer& out) {
  const Vocabulary vocabulary(table);
  bool glued = true;  // nothing stands before the first token
  for (uint32_t i = 0; i < request.count; ++i) {
    Piece piece = vocabulary.piece(request.ids[i]);
    if (request.copies && request.copies[i].text) {
      piece = {reinterpret_cast<const uint8_t*>(request.copies[i].text), request.copies[i].bytes};
    } else if (holds(table.prefix(), request.ids[i]) || holds(table.suffix(), request.ids[i])) {
      continue;
    }
    if (piece.count == 0) continue;
    if (!glued && !leans_back(table, piece)) out.add(" ", 1);
    out.add(piece.bytes, piece.count);
    glued = leans_on(table, piece);
  }
}

}  // namespace

heed_status detokenize(const schema::Tokenizer& table, const DetokenizeRequest& request, char* text, uint64_t capacity,
                       uint64_t* bytes) {
  *bytes = 0;
  if (table.kind() == schema::TokenizerKind::none) return HEED_NO_TOKENIZER;
  if (table.kind() != schema::TokenizerKind::word) return HEED_UNSUPPORTED;
  if (!Vocabulary::valid(table)) return HEED_CORRUPT;
  for (uint32_t i = 0; i < request.count; ++i) {
    if (request.ids[i] >= table.vocabulary()) return HEED_BAD_INPUT;
  }
  Writer counter{nullptr, 0};
  join(table, request, counter);
  *bytes = counter.bytes;
  if (counter.bytes > capacity) return HEED_BUFFER_TOO_SMALL;
  Writer writer{text, 0};
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
