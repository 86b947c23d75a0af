// Whether a piece of a vocabulary is spelled like characters of a word.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "text/normalizer.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace heed {

// Whether the piece is `lead`, then the characters begin .. end.
inline bool spells(Piece piece, Piece lead, const uint32_t* begin, const uint32_t* end) {
  const uint8_t* at = piece.bytes;
  const uint8_t* const last = piece.bytes + piece.count;
  if (piece.count < lead.count) return false;
  for (uint32_t i = 0; i < lead.count; ++i) {
    if (*at++ != lead.bytes[i]) return false;
  }
  for (; begin < end; ++begin) {
    uint8_t spelled[4];
    const uint32_t count = encode_utf8(code_point_of(*begin), spelled);
    if (static_cast<uint32_t>(last - at) < count) return false;
    for (uint32_t i = 0; i < count; ++i) {
      if (*at++ != spelled[i]) return false;
    }
  }
  return at == last;
}

}  // namespace heed
