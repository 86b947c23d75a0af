// GPT-2's spelling: a byte that is printable Latin-1 is itself, the others are U+0100 and what follows, in order.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer_byte_level.h"

#include <algorithm>

#include "error.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace heed::tools {
namespace {

bool is_itself(uint32_t byte) { return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD); }

std::map<uint32_t, char> bytes_by_character() {
  std::map<uint32_t, char> result;
  uint32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) result[is_itself(byte) ? byte : next++] = static_cast<char>(byte);
  return result;
}

// False if a character stands for no byte.
bool spelled_out(const std::string& piece, const std::map<uint32_t, char>& bytes, std::string* out) {
  const auto* text = reinterpret_cast<const uint8_t*>(piece.data());
  for (size_t i = 0; i < piece.size();) {
    const Utf8Character in = decode_utf8(text + i, piece.size() - i);
    const auto found = bytes.find(in.code_point);
    if (found == bytes.end()) return false;
    *out += found->second;
    i += in.bytes;
  }
  return true;
}

int32_t hex_digit(char c) {
  const std::string digits = "0123456789ABCDEF";
  const size_t place = digits.find(c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c);
  return place == std::string::npos ? -1 : static_cast<int32_t>(place);
}

}  // namespace

std::map<std::string, uint32_t> ids_of(const std::vector<std::string>& pieces) {
  std::map<std::string, uint32_t> ids;
  for (uint32_t id = 0; id < pieces.size(); ++id) ids[pieces[id]] = id;
  return ids;
}

void add_merge(SubwordSpec& spec, const std::map<std::string, uint32_t>& ids, uint32_t left, uint32_t right, const std::string& where) {
  const auto joined = ids.find(spec.pieces[left] + spec.pieces[right]);
  if (joined == ids.end()) {
    throw Error(where + ": '" + spec.pieces[left] + "' and '" + spec.pieces[right] + "' are merged to what is not in the vocabulary; the files do not belong together");
  }
  spec.merges.emplace_back(left, right, static_cast<uint32_t>(spec.merges.size()), joined->second);
}

void spell_out_bytes(SubwordSpec& spec) {
  const std::map<uint32_t, char> bytes = bytes_by_character();
  std::vector<bool> as_it_is(spec.pieces.size());
  for (const schema::AddedTokenT& token : spec.added) as_it_is[token.id] = true;
  for (uint32_t id = 0; id < spec.pieces.size(); ++id) {
    std::string piece;
    if (as_it_is[id]) continue;
    if (spelled_out(spec.pieces[id], bytes, &piece)) {
      spec.pieces[id] = piece;
    } else {
      spec.not_in_text.push_back(id);
    }
  }
}

int32_t byte_of_piece(const std::string& piece, const std::string& where) {
  if (piece.size() < 4 || piece.compare(0, 3, "<0x") != 0 || piece.back() != '>') return -1;
  const int32_t high = piece.size() == 6 ? hex_digit(piece[3]) : -1;
  const int32_t low = piece.size() == 6 ? hex_digit(piece[4]) : -1;
  if (high >= 0 && low >= 0) return high * 16 + low;
  throw Error(where + ": piece '" + piece + "' looks like a byte but is not one; bytes are <0x00> to <0xFF>, with two digits");
}

void add_byte_piece(std::vector<uint32_t>& pieces, int32_t byte, uint32_t id, const std::string& where) {
  uint32_t& place = pieces[static_cast<size_t>(byte)];
  if (place != kNoPiece) throw Error(where + ": pieces " + std::to_string(place) + " and " + std::to_string(id) + " both stand for the byte " + std::to_string(byte));
  place = id;
}

void check_byte_pieces(const std::vector<uint32_t>& pieces, const std::string& where) {
  const auto missing = std::find(pieces.begin(), pieces.end(), kNoPiece);
  if (missing == pieces.end()) return;
  throw Error(where + ": there is no piece for the byte " + std::to_string(missing - pieces.begin()) + "; all 256 are needed, or none");
}

}  // namespace heed::tools
