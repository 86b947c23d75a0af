// The merges of byte-pair encoding: found by the two pieces, through a hash table in the model file.
// SPDX-License-Identifier: Apache-2.0
//
//   merges       {left, right, rank, id} ...
//   merge_slots  a power of two of them; 0 is empty, else (hash's top 8 bits) << 24 | index + 1
//
// A merge lies in the first free slot from `slot_of(hash)` on, at most kMaxProbes further, as pieces do.
#pragma once
#include <cstdint>

#include "text/vocabulary.h"

namespace heed {

inline constexpr uint32_t kNoRank = 0xFFFFFFFFu;

inline constexpr uint32_t merge_hash(uint32_t left, uint32_t right) {
  const uint32_t mixed = (left * 0x9E3779B1u ^ right) * 0x85EBCA6Bu;
  return (mixed ^ mixed >> 13) * 0xC2B2AE35u;
}

class Merges {
 public:
  // `table` must have passed `valid`.
  explicit Merges(const schema::Tokenizer& table)
      : merges_(table.merges()), slots_(table.merge_slots()), vocabulary_(table.vocabulary()) {}

  static bool valid(const schema::Tokenizer& table) {
    if (!table.merges() || table.merges()->size() == 0) return true;
    const uint32_t slots = table.merge_slots() ? table.merge_slots()->size() : 0;
    return slots > 0 && (slots & (slots - 1)) == 0;
  }

  // The merge of two pieces, or null.
  const schema::Merge* find(uint32_t left, uint32_t right) const {
    if (!merges_ || merges_->size() == 0) return nullptr;
    const uint32_t hash = merge_hash(left, right);
    for (uint32_t probe = 0; probe < kMaxProbes; ++probe) {
      const uint32_t slot = slots_->Get((slot_of(hash) + probe) & (slots_->size() - 1));
      if (slot == 0) return nullptr;
      const uint32_t index = (slot & 0xFFFFFFu) - 1;
      if (slot >> 24 != hash_tag(hash) || index >= merges_->size()) continue;
      const schema::Merge* merge = merges_->Get(index);
      if (merge->left() == left && merge->right() == right && merge->id() < vocabulary_) return merge;
    }
    return nullptr;
  }

 private:
  const ::flatbuffers::Vector<const schema::Merge*>* merges_;
  const ::flatbuffers::Vector<uint32_t>* slots_;
  uint32_t vocabulary_;
};

}  // namespace heed
