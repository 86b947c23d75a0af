// What a run of text is made of before its pieces are found, and the way its tokens go out.
// SPDX-License-Identifier: Apache-2.0
//
// A run longer than a window is worked on in parts that overlap: of a full window only what lies well before its end, or what no later
// character can change, becomes tokens, and the rest is looked at again with what follows.
#pragma once
#include <cstdint>
#include <cstring>

#include "text/token_sink.h"
#include "text/vocabulary.h"

namespace heed {

inline constexpr uint32_t kWindow = 256;        // units of a run that are looked at together
inline constexpr uint32_t kLongestPiece = 128;  // bytes of a piece that Unigram may look for

// Where each unit of a window comes from; `begins` has one more entry, which is where the last unit ends.
inline Span span_of_units(const uint32_t* begins, uint32_t count, uint32_t first, uint32_t end) {
  const uint32_t last = begins[end - 1];
  while (end < count && begins[end] == last) ++end;  // units of one character of the text belong together
  return {begins[first], begins[end]};
}

// Tokens on their way to the sink: characters that no piece has become bytes, or unknown tokens. Neighbours of these may be joined; then,
// as where pieces and ids come from two files, all of them together may be a piece after all.
class TokenWriter {
 public:
  TokenWriter(const schema::Tokenizer& table, TokenSink& sink)
      : vocabulary_(table), bytes_(table.byte_pieces()), unknown_(table.unknown()), join_(table.join_unknown()), sink_(sink) {
    if (bytes_ && bytes_->size() != 256) bytes_ = nullptr;
  }

  bool has_bytes() const { return bytes_ != nullptr; }
  uint32_t byte_piece(uint8_t byte) const { return bytes_->Get(byte); }
  uint32_t unknown() const { return unknown_; }
  bool full() const { return sink_.count >= sink_.limit; }

  void push(uint32_t id, Span span) {
    separate();
    sink_.push(id, span);
  }
  // `text` may be null: it is not looked up.
  void push_unknown(Span span, const uint8_t* text, uint32_t count) {
    if (!join_) separate();
    if (!waiting_) {
      waiting_ = true;
      span_.begin = span.begin;
      count_ = 0;
    }
    span_.end = span.end;
    if (!text) count_ = kLongestPiece;
    for (uint32_t i = 0; i < count && count_ < kLongestPiece; ++i) spelled_[count_++] = text[i];
  }
  // What follows is not joined to what was before.
  void separate() {
    if (!waiting_) return;
    waiting_ = false;
    uint32_t hash = kHashStart;
    for (uint32_t i = 0; i < count_; ++i) hash = hash_step(hash, spelled_[i]);
    const auto same = [&](Piece piece) { return piece.count == count_ && std::memcmp(piece.bytes, spelled_, count_) == 0; };
    const uint32_t id = count_ < kLongestPiece ? vocabulary_.find(hash, same) : kNoPiece;
    sink_.push(id == kNoPiece ? unknown_ : id, span_);
  }

 private:
  Vocabulary vocabulary_;
  const ::flatbuffers::Vector<uint32_t>* bytes_;
  uint32_t unknown_;
  bool join_;
  TokenSink& sink_;
  bool waiting_ = false;  // unknown characters that are not in the sink yet
  Span span_ = {};
  uint32_t count_ = 0;    // of their bytes; kLongestPiece: too many to be a piece
  uint8_t spelled_[kLongestPiece];
};

}  // namespace heed
