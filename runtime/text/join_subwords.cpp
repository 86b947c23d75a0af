// Subwords joined to a text: their bytes, with spaces for U+2581 and without the space that was put before a text.
// SPDX-License-Identifier: Apache-2.0
#include "text/joined.h"
#include "text/vocabulary.h"

namespace heed {
namespace {

constexpr char kUnknownText[] = " \xE2\x81\x87 ";  // as SentencePiece writes it
constexpr char kSpaceSymbol[] = "\xE2\x96\x81";

// The byte that a piece "<0x..>" stands for, or -1.
int32_t byte_of(const schema::Tokenizer& table, uint32_t id, Piece piece) {
  if (piece.count != 6 || std::memcmp(piece.bytes, "<0x", 3) != 0 || !table.byte_pieces()) return -1;
  for (uint32_t i = 0; i < table.byte_pieces()->size() && i < 256; ++i) {
    if (table.byte_pieces()->Get(i) == id) return static_cast<int32_t>(i);
  }
  return -1;
}

class Joiner {
 public:
  Joiner(const schema::Tokenizer& table, Joined& out)
      : table_(table), out_(out), words_(table.split() == schema::SplitKind::gpt2), at_start_(table.prefix_space() != schema::PrefixSpace::none) {}

  void add(uint32_t id, Piece piece) {
    if (words_) return add_bytes(piece.bytes, piece.count, " ", 1);
    if (id == table_.unknown() && (!table_.byte_pieces() || table_.byte_pieces()->size() == 0)) {
      at_start_ = false;
      return out_.add(kUnknownText, sizeof kUnknownText - 1);
    }
    const int32_t byte = byte_of(table_, id, piece);
    if (byte >= 0) {
      const auto one = static_cast<uint8_t>(byte);
      at_start_ = false;
      return out_.add(&one, 1);
    }
    add_bytes(piece.bytes, piece.count, kSpaceSymbol, 3);
  }

 private:
  void add_bytes(const uint8_t* bytes, uint32_t count, const char* space, uint32_t length) {
    for (uint32_t i = 0; i < count;) {
      const bool is_space = count - i >= length && std::memcmp(bytes + i, space, length) == 0;
      const uint32_t step = is_space ? length : 1;
      if (!is_space) out_.add(bytes + i, 1);
      if (is_space && !at_start_) out_.add(" ", 1);
      at_start_ = false;
      i += step;
    }
  }

  const schema::Tokenizer& table_;
  Joined& out_;
  bool words_;     // pieces are bytes
  bool at_start_;  // a space here is not the text's own
};

}  // namespace

void join_subwords(const schema::Tokenizer& table, const DetokenizeRequest& request, Joined& out) {
  const Vocabulary vocabulary(table);
  Joiner joiner(table, out);
  for (uint32_t i = 0; i < request.count; ++i) {
    if (request.copies && request.copies[i].text) {
      out.add(request.copies[i].text, request.copies[i].bytes);
    } else if (!is_special(table, request.ids[i])) {
      joiner.add(request.ids[i], vocabulary.piece(request.ids[i]));
    }
  }
}

}  // namespace heed
