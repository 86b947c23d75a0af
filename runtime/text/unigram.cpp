// The search for the best way (Viterbi's) inside a window of bytes.
// SPDX-License-Identifier: Apache-2.0
#include "text/unigram.h"

#include <cstring>

#include "text/sentence.h"
#include "text/trie.h"
#include "text/units.h"
#include "text/utf8.h"

namespace heed {
namespace {

using schema::SplitKind;

class Window {
 public:
  Window(const schema::Tokenizer& table, TokenSink& sink)
      : table_(table), trie_(table.trie()), scores_(*table.scores()), writer_(table, sink) {}

  bool full() const { return writer_.full(); }

  void push(const SentenceUnit& unit) {
    begins_[count_] = unit.begin;
    if (count_ + unit.count > kWindow) flush(false);
    for (uint32_t i = 0; i < unit.count; ++i) {
      begins_[count_] = unit.begin;
      text_[count_++] = unit.bytes[i];
    }
  }

  // The run ends here.
  void finish(uint32_t end) {
    begins_[count_] = end;
    if (count_ > 0) flush(true);
    if (table_.whole_text()) return;
    carried_ = 0;
    writer_.separate();
  }
  void finish_text() { writer_.separate(); }

 private:
  // A way to `end` whose last piece begins at `begin`. Of equal ones the first stays.
  void offer(uint32_t begin, uint32_t end, uint32_t id, float score) {
    double sum = sums_[begin] + double{score};
    if (table_.whole_text()) sum = static_cast<float>(sum);  // as SentencePiece adds them up
    if (ids_[end] != kUnreached && !(sum > sums_[end])) return;
    sums_[end] = sum;
    ids_[end] = id;
    previous_[end] = static_cast<uint16_t>(begin);
  }

  void search() {
    for (uint32_t i = 1; i <= count_; ++i) ids_[i] = kUnreached;
    sums_[0] = carried_;
    ids_[0] = kNoPiece;
    for (uint32_t i = 0; i < count_; ++i) {
      if (ids_[i] == kUnreached) continue;
      const uint32_t character = decode_utf8(text_ + i, count_ - i).bytes;
      bool alone = false;  // a piece is this one character
      Trie::Walk walk(trie_);
      for (uint32_t end = i; end < count_ && end - i < kLongestPiece && walk.step(text_[end]); ++end) {
        uint32_t id = 0;
        if (!walk.ends(&id) || id >= scores_.size()) continue;
        offer(i, end + 1, id, scores_.Get(id));
        alone = alone || end + 1 - i == character;
      }
      if (!alone) offer(i, i + character, kNoPiece, table_.unknown_score());
    }
  }

  // A place that every way goes through which a later character may still choose, or 0.
  uint32_t meeting() {
    bool alive[kWindow + 1];
    uint32_t ways = 0;
    const uint32_t reach = table_.longest_piece() < count_ ? table_.longest_piece() : count_;
    for (uint32_t i = 0; i <= count_; ++i) {
      alive[i] = i + reach >= count_ && ids_[i] != kUnreached;
      ways += alive[i];
    }
    for (uint32_t i = count_; i > 0; --i) {
      if (!alive[i]) continue;
      if (ways == 1) return i;
      if (alive[previous_[i]]) --ways;
      alive[previous_[i]] = true;
    }
    return 0;
  }

  // Turns the way to `end` around, so that `next_` leads along it from 0.
  void turn(uint32_t end) {
    for (; end > 0; end = previous_[end]) next_[previous_[end]] = static_cast<uint16_t>(end);
  }

  // The end, among those in reach of a later character, to which the best way costs least for a byte.
  uint32_t cheapest() const {
    uint32_t best = count_;
    const uint32_t reach = table_.longest_piece() < count_ / 2 ? table_.longest_piece() : count_ / 2;
    for (uint32_t i = count_ - reach; i <= count_; ++i) {
      if (ids_[i] != kUnreached && (sums_[i] - carried_) * best > (sums_[best] - carried_) * i) best = i;
    }
    return best;
  }

  // Of a full window that has no meeting in its second half, a good way gives its first half.
  uint32_t settled() {
    const uint32_t meeting_place = meeting();
    turn(meeting_place >= kWindow / 2 ? meeting_place : cheapest());
    if (meeting_place >= kWindow / 2) return meeting_place;
    uint32_t end = next_[0];
    while (end < kWindow / 2 && next_[end] <= kWindow / 2) end = next_[end];
    return end;
  }

  void give(uint32_t begin, uint32_t end) {
    const uint32_t id = ids_[end];
    const Span span = span_of_units(begins_, count_, begin, end);
    if (id != kNoPiece) return writer_.push(id < table_.vocabulary() ? id : table_.unknown(), span);
    if (!writer_.has_bytes()) return writer_.push_unknown(span, text_ + begin, end - begin);
    for (uint32_t i = begin; i < end; ++i) writer_.push(writer_.byte_piece(text_[i]), span);
  }

  void flush(bool last) {
    search();
    if (last) turn(count_);
    const uint32_t taken = last ? count_ : settled();
    for (uint32_t i = 0; i < taken; i = next_[i]) give(i, next_[i]);
    carried_ = sums_[taken];
    count_ -= taken;
    std::memmove(text_, text_ + taken, count_);
    std::memmove(begins_, begins_ + taken, (count_ + 1) * sizeof begins_[0]);
  }

  static constexpr uint32_t kUnreached = kNoPiece - 1;

  const schema::Tokenizer& table_;
  Trie trie_;
  const ::flatbuffers::Vector<float>& scores_;
  TokenWriter writer_;
  double carried_ = 0;
  uint32_t count_ = 0;
  uint8_t text_[kWindow];
  uint32_t begins_[kWindow + 1];
  // Of the best way that ends at each byte: its sum, and its last piece.
  double sums_[kWindow + 1];
  uint32_t ids_[kWindow + 1];
  uint16_t previous_[kWindow + 1];
  uint16_t next_[kWindow + 1];
};

}  // namespace

heed_status Unigram::check(const schema::Tokenizer& table) {
  const uint32_t bytes = table.byte_pieces() ? table.byte_pieces()->size() : 0;
  if (!Vocabulary::valid(table) || table.unknown() >= table.vocabulary()) return HEED_CORRUPT;
  if (!table.scores() || table.scores()->size() < table.vocabulary() || (bytes != 0 && bytes != 256)) return HEED_CORRUPT;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (table.byte_pieces()->Get(i) >= table.vocabulary()) return HEED_CORRUPT;
  }
  const bool known = table.split() <= SplitKind::MAX && table.split() != SplitKind::gpt2 && table.prefix_space() <= schema::PrefixSpace::MAX;
  return known && table.longest_piece() <= kLongestPiece ? HEED_OK : HEED_UNSUPPORTED;
}

void Unigram::split(const uint8_t* text, uint32_t bytes, TokenSink& sink) const {
  Window window(table_, sink);
  read_runs(table_, text, bytes, window);
}

}  // namespace heed
