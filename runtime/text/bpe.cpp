// Merging inside a window of units.
// SPDX-License-Identifier: Apache-2.0
#include "text/bpe.h"

#include <cstring>

#include "text/gpt2_words.h"
#include "text/sentence.h"
#include "text/units.h"
#include "text/utf8.h"

namespace heed {
namespace {

using schema::SplitKind;

uint32_t hash_bytes(uint32_t hash, const uint8_t* bytes, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) hash = hash_step(hash, bytes[i]);
  return hash;
}

// The units of a run, and the symbols that they are merged to.
class Window {
 public:
  Window(const Merges& merges, TokenWriter& writer) : merges_(merges), writer_(writer) {}

  // A unit that comes from the text at `begin`; kNoPiece is a character that no piece has.
  void push(uint32_t id, uint32_t begin) {
    begins_[count_] = begin;
    if (count_ == kWindow) flush(false);
    begins_[count_] = begin;
    units_[count_++] = id;
  }

  // The run ends here.
  void finish(uint32_t end) {
    begins_[count_] = end;
    if (count_ > 0) flush(true);
  }

 private:
  void find_rank(uint32_t i) {
    const schema::Merge* merge = i + 1 < symbols_ ? merges_.find(ids_[i], ids_[i + 1]) : nullptr;
    ranks_[i] = merge ? merge->rank() : kNoRank;
    merged_[i] = merge ? merge->id() : kNoPiece;
  }

  // Takes out the symbol at `i`.
  void close_gap(uint32_t i) {
    const uint32_t behind = symbols_ - i - 1;
    std::memmove(ids_ + i, ids_ + i + 1, behind * sizeof ids_[0]);
    std::memmove(ranks_ + i, ranks_ + i + 1, behind * sizeof ranks_[0]);
    std::memmove(merged_ + i, merged_ + i + 1, behind * sizeof merged_[0]);
    std::memmove(starts_ + i, starts_ + i + 1, behind * sizeof starts_[0]);
    --symbols_;
  }

  void merge() {
    symbols_ = count_;
    for (uint32_t i = 0; i < count_; ++i) {
      ids_[i] = units_[i];
      starts_[i] = static_cast<uint16_t>(i);
    }
    for (uint32_t i = 0; i < count_; ++i) find_rank(i);
    while (symbols_ > 1) {
      uint32_t best = 0;
      for (uint32_t i = 1; i + 1 < symbols_; ++i) best = ranks_[i] < ranks_[best] ? i : best;
      if (ranks_[best] == kNoRank) return;
      ids_[best] = merged_[best];
      close_gap(best + 1);
      find_rank(best);
      if (best > 0) find_rank(best - 1);
    }
  }

  void flush(bool last) {
    merge();
    // A full window gives its first half only: further back, what is still to come changes nothing.
    uint32_t given = symbols_;
    while (!last && given > 1 && starts_[given - 1] > kWindow / 2) --given;
    if (!last && given > 1) --given;
    starts_[symbols_] = static_cast<uint16_t>(count_);
    for (uint32_t i = 0; i < given; ++i) {
      const Span span = span_of_units(begins_, count_, starts_[i], starts_[i + 1]);
      if (ids_[i] == kNoPiece) {
        writer_.push_unknown(span, nullptr, 0);
      } else {
        writer_.push(ids_[i], span);
      }
    }
    const uint32_t taken = starts_[given];
    count_ -= taken;
    std::memmove(units_, units_ + taken, count_ * sizeof units_[0]);
    std::memmove(begins_, begins_ + taken, (count_ + 1) * sizeof begins_[0]);
  }

  const Merges& merges_;
  TokenWriter& writer_;
  uint32_t count_ = 0;
  uint32_t units_[kWindow];
  uint32_t begins_[kWindow + 1];
  uint32_t symbols_ = 0;
  uint32_t ids_[kWindow];
  uint32_t ranks_[kWindow];   // of a symbol with the one behind it
  uint32_t merged_[kWindow];  // what the two become
  uint16_t starts_[kWindow + 1];
};

// Characters of a sentence, by the pieces they are.
class Characters {
 public:
  Characters(const schema::Tokenizer& table, const Vocabulary& vocabulary, const Merges& merges, TokenSink& sink)
      : vocabulary_(vocabulary), writer_(table, sink), window_(merges, writer_), whole_text_(table.whole_text()) {}

  bool full() const { return writer_.full(); }
  void push(const SentenceUnit& unit) {
    const uint32_t hash = hash_bytes(kHashStart, unit.bytes, unit.count);
    const uint32_t id = vocabulary_.find(hash, [&](Piece piece) {
      return piece.count == unit.count && std::memcmp(piece.bytes, unit.bytes, unit.count) == 0;
    });
    if (id != kNoPiece || !writer_.has_bytes()) return window_.push(id, unit.begin);
    for (uint32_t i = 0; i < unit.count; ++i) window_.push(writer_.byte_piece(unit.bytes[i]), unit.begin);
  }
  void finish(uint32_t end) {
    window_.finish(end);
    if (!whole_text_) writer_.separate();
  }
  void finish_text() { writer_.separate(); }

 private:
  const Vocabulary& vocabulary_;
  TokenWriter writer_;
  Window window_;
  bool whole_text_;
};

}  // namespace

heed_status Bpe::check(const schema::Tokenizer& table) {
  const uint32_t bytes = table.byte_pieces() ? table.byte_pieces()->size() : 0;
  if (!Vocabulary::valid(table) || !Merges::valid(table) || (bytes != 0 && bytes != 256)) return HEED_CORRUPT;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (table.byte_pieces()->Get(i) >= table.vocabulary()) return HEED_CORRUPT;
  }
  if (table.split() > SplitKind::MAX || table.prefix_space() > schema::PrefixSpace::MAX) return HEED_UNSUPPORTED;
  if (bytes == 0 && (table.split() == SplitKind::gpt2 || table.unknown() >= table.vocabulary())) return HEED_CORRUPT;
  return HEED_OK;
}

void Bpe::split_words(const uint8_t* text, uint32_t bytes, TokenSink& sink) const {
  TokenWriter writer(table_, sink);
  Window window(merges_, writer);
  const bool add_space = table_.prefix_space() == schema::PrefixSpace::always ||
                         (table_.prefix_space() == schema::PrefixSpace::unless_space && bytes > 0 && text[0] != ' ');
  Gpt2WordReader reader(classes_, text, bytes, add_space);
  Gpt2Word word;
  while (!writer.full() && reader.next(word)) {
    const uint8_t* const at = text + word.span.begin;
    const uint32_t count = word.span.end - word.span.begin;
    const uint32_t lead = word.led_by_space ? 1 : 0;
    // The added space belongs to the first character of the text.
    const Span span = {word.span.begin, count > 0 ? word.span.end : decode_utf8(at, bytes - word.span.begin).bytes};
    if (word.valid && count + lead <= table_.longest_piece()) {
      const uint32_t start = lead ? hash_step(kHashStart, ' ') : kHashStart;
      const uint32_t id = vocabulary_.find(hash_bytes(start, at, count), [&](Piece piece) {
        return piece.count == count + lead && (!lead || piece.bytes[0] == ' ') && std::memcmp(piece.bytes + lead, at, count) == 0;
      });
      if (id != kNoPiece) {
        writer.push(id, span);
        continue;
      }
    }
    if (lead) window.push(writer.byte_piece(' '), word.span.begin);
    for (uint32_t i = 0; i < count;) {
      const Utf8Character in = decode_utf8(at + i, count - i);
      uint8_t spelled[4];
      const uint32_t length = encode_utf8(in.code_point, spelled);
      for (uint32_t k = 0; k < length; ++k) window.push(writer.byte_piece(spelled[k]), word.span.begin + i);
      i += in.bytes;
    }
    window.finish(span.end);
  }
}

void Bpe::split(const uint8_t* text, uint32_t bytes, TokenSink& sink) const {
  if (table_.split() == SplitKind::gpt2) return split_words(text, bytes, sink);
  Characters characters(table_, vocabulary_, merges_, sink);
  read_runs(table_, text, bytes, characters);
}

}  // namespace heed
