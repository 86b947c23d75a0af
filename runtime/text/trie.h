// A set of byte strings with a number for each, as a double array that is used where it lies.
// SPDX-License-Identifier: Apache-2.0
//
// The units are those of SentencePiece's compiled character maps:
//
//   bits 0-7, 31   the byte that leads here (bit 31 is 0; a unit with it holds a number and no byte fits it)
//   bit 8          the string that ends here is in the set: its number stands in the unit at `base`
//   bit 9          the offset counts 256 units
//   bits 10-30     offset; base = own place ^ offset, and the child for byte c is at base ^ c
//
// Nothing in the array is trusted: a place outside ends the search.
#pragma once
#include <cstdint>

#include "model_generated.h"

namespace heed {

class Trie {
 public:
  explicit Trie(const ::flatbuffers::Vector<uint32_t>* units) : units_(units), count_(units ? units->size() : 0) {}

  bool empty() const { return count_ == 0; }

  // The way down from the root.
  class Walk {
   public:
    explicit Walk(const Trie& trie) : trie_(trie), base_(trie.count_ > 0 ? offset(trie.units_->Get(0)) : 0) {}

    // False: nothing in the set goes on with this byte, and the walk is over.
    bool step(uint8_t byte) {
      const uint32_t at = base_ ^ byte;
      if (at >= trie_.count_ || byte == 0) return false;
      unit_ = trie_.units_->Get(at);
      if ((unit_ & 0x800000FFu) != byte) return false;
      base_ = at ^ offset(unit_);
      return true;
    }
    // Whether the bytes so far are in the set; then its number, below 2^31.
    bool ends(uint32_t* number) const {
      if ((unit_ & 0x100u) == 0 || base_ >= trie_.count_) return false;
      *number = trie_.units_->Get(base_) & 0x7FFFFFFFu;
      return true;
    }

   private:
    static uint32_t offset(uint32_t unit) { return (unit >> 10 & 0x1FFFFFu) << ((unit & 0x200u) >> 6); }

    const Trie& trie_;
    uint32_t base_;
    uint32_t unit_ = 0;
  };

 private:
  const ::flatbuffers::Vector<uint32_t>* units_;
  uint32_t count_;
};

}  // namespace heed
