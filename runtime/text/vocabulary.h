// The pieces of a vocabulary: by id, and by their characters through a hash table in the model file.
// SPDX-License-Identifier: Apache-2.0
//
//   piece_bytes  "[PAD][UNK]the##s..."       piece_ends  5 10 13 16 ...
//   slots        a power of two of them; 0 is empty, else (hash's top 8 bits) << 24 | id + 1
//
// A piece lies in the first free slot from `slot_of(hash)` on, at most kMaxProbes further. The tag in the top bits
// spares a look at the bytes of nearly every other piece.
#pragma once
#include <cstdint>

#include "model_generated.h"

namespace heed {

inline constexpr uint32_t kNoPiece = 0xFFFFFFFFu;
inline constexpr uint32_t kMaxVocabulary = 0xFFFFFEu;  // ids have 24 bits, and one is taken
inline constexpr uint32_t kMaxProbes = 32;             // a promise of the file, so that a search has an end

// FNV-1a over code points: one multiplication for a character, and the hash of every prefix on the way.
inline constexpr uint32_t kHashStart = 2166136261u;
inline constexpr uint32_t hash_step(uint32_t hash, uint32_t code_point) { return (hash ^ code_point) * 16777619u; }
inline constexpr uint32_t hash_tag(uint32_t hash) { return hash >> 24; }
// The low bits of the product know only low bits of what went in.
inline constexpr uint32_t slot_of(uint32_t hash) { return hash ^ hash >> 15; }

struct Piece {
  const uint8_t* bytes = nullptr;
  uint32_t count = 0;
};

class Vocabulary {
 public:
  // `table` must have passed `valid`.
  explicit Vocabulary(const schema::Tokenizer& table)
      : bytes_(table.piece_bytes()), ends_(table.piece_ends()), slots_(table.slots()) {}

  static bool valid(const schema::Tokenizer& table) {
    if (!table.piece_bytes() || !table.piece_ends() || !table.slots()) return false;
    const uint32_t slots = table.slots()->size();
    return table.vocabulary() <= kMaxVocabulary && table.piece_ends()->size() == table.vocabulary() && slots > 0 &&
           (slots & (slots - 1)) == 0;
  }

  // A piece as the vocabulary spells it. No bytes for an id outside the vocabulary or an entry outside the table.
  Piece piece(uint32_t id) const {
    if (id >= ends_->size()) return {};
    const uint32_t begin = id == 0 ? 0 : ends_->Get(id - 1);
    const uint32_t end = ends_->Get(id);
    if (begin > end || end > bytes_->size()) return {};
    return {bytes_->data() + begin, end - begin};
  }

  // The id of the piece with this hash for which `is_same(piece)` holds, or kNoPiece.
  template <class IsSame>
  uint32_t find(uint32_t hash, IsSame is_same) const {
    for (uint32_t probe = 0; probe < kMaxProbes; ++probe) {
      const uint32_t slot = slots_->Get((slot_of(hash) + probe) & (slots_->size() - 1));
      if (slot == 0) return kNoPiece;
      const uint32_t id = (slot & 0xFFFFFFu) - 1;
      if (slot >> 24 == hash_tag(hash) && id < ends_->size() && is_same(piece(id))) return id;
    }
    return kNoPiece;
  }

 private:
  const ::flatbuffers::Vector<uint8_t>* bytes_;
  const ::flatbuffers::Vector<uint32_t>* ends_;
  const ::flatbuffers::Vector<uint32_t>* slots_;
};

}  // namespace heed
