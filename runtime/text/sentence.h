// A text as SentencePiece sees it: characters replaced by the file's map, and U+2581 for a space.
// SPDX-License-Identifier: Apache-2.0
//
//     " I  love\tyou. "    ->    _I _love _you.      ("_" stands for U+2581)
//
// The map replaces the longest of its strings that the text goes on with. The flags of the table say what becomes of spaces.
#pragma once
#include <cstdint>

#include "text/token_sink.h"
#include "text/trie.h"

namespace heed {

inline constexpr uint32_t kMaxReplacedBytes = 64;      // of a string that the map replaces
inline constexpr uint32_t kMaxReplacementBytes = 255;  // of what stands in its place; more is not read
inline constexpr uint32_t kSpaceSymbol = 0x2581;

// One character of a normalized text.
struct SentenceUnit {
  const uint8_t* bytes;
  uint32_t count;  // 1 to 4
  uint32_t begin;  // where in the text it comes from, together with others where these have the same place
  uint32_t end;
  bool space;
};

class SentenceReader {
 public:
  SentenceReader(const schema::Tokenizer& table, const uint8_t* text, uint32_t bytes);

  // False at the end of the text; then `end` tells where the last unit ended.
  bool next(SentenceUnit& unit);
  uint32_t end() const { return end_; }

 private:
  // What stands for some bytes of the text.
  struct Group {
    const uint8_t* at;
    uint32_t left;
    uint32_t begin;
    uint32_t end;
  };

  bool next_unit(SentenceUnit& unit);
  bool next_plain(SentenceUnit& unit);
  bool fill_group();
  // What stands for the text at `*position`, which is moved behind it.
  Group read(uint32_t* position) const;
  bool replacement(const uint8_t* text, uint32_t bytes, Group& group, uint32_t* taken) const;
  // Whether the character that a group goes on with is a space; `bytes` gets its length.
  bool is_space(const Group& group, uint32_t* bytes) const;
  bool is_symbol(const Group& group) const;  // U+2581 itself
  bool is_trimmed(const Group& group, uint32_t* bytes) const;
  void open_group();
  // Whether nothing follows but what is cut off the end of a text.
  bool only_trimmed_follow();

  const schema::Tokenizer& table_;
  Trie charsmap_;
  const uint8_t* text_;
  uint32_t bytes_;
  uint32_t position_ = 0;
  Group group_ = {nullptr, 0, 0, 0};
  bool after_space_;
  bool at_start_ = true;
  bool begun_ = false;
  uint32_t start_ = 0;       // where the text begins behind spaces that are dropped
  bool word_is_due_ = false; // the last unit was a space between words
  bool held_ = false;        // the first unit waits behind the space put before it
  SentenceUnit waiting_ = {};
  uint32_t solid_ = 0;       // there is something that is not cut off here, if it is ahead
  uint32_t end_;
};

// Hands the units of a text to `model`, in runs: push(unit) for each, finish(end) behind the last of a run, finish_text() at the end.
template <class Model>
void read_runs(const schema::Tokenizer& table, const uint8_t* text, uint32_t bytes, Model& model) {
  SentenceReader reader(table, text, bytes);
  SentenceUnit unit;
  SentenceUnit last = {nullptr, 0, 0, 0, false};
  while (!model.full() && reader.next(unit)) {
    const bool cut = table.split() == schema::SplitKind::spaces || (table.split() == schema::SplitKind::space_runs && !last.space);
    if (unit.space && cut) model.finish(unit.begin == last.begin ? last.end : unit.begin);
    model.push(unit);
    last = unit;
  }
  model.finish(reader.end());
  model.finish_text();
}

}  // namespace heed
