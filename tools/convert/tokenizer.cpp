// The tables of a tokenizer: pieces, their hash table, the normalizer.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer.h"

#include <algorithm>
#include <memory>

#include "convert/tokenizer_files.h"
#include "error.h"
#include "text/normalizer.h"
#include "text/tokenizer.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

std::vector<uint32_t> code_points(const std::string& text) {
  std::vector<uint32_t> result;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t i = 0; i < text.size();) {
    const Utf8Character in = decode_utf8(bytes + i, text.size() - i);
    result.push_back(in.code_point);
    i += in.bytes;
  }
  return result;
}

uint32_t hash_of(const std::string& piece) {
  uint32_t hash = kHashStart;
  for (const uint32_t c : code_points(piece)) hash = hash_step(hash, c);
  return hash;
}

// False if some piece finds no place near enough.
bool fill_slots(const std::vector<std::string>& pieces, std::vector<uint32_t>& slots) {
  const uint32_t mask = static_cast<uint32_t>(slots.size()) - 1;
  for (size_t id = pieces.size(); id-- > 0;) {  // the later of two equal ones comes first, and is found first
    if (pieces[id].empty()) continue;
    const uint32_t hash = hash_of(pieces[id]);
    uint32_t probe = 0;
    while (probe < kMaxProbes && slots[(slot_of(hash) + probe) & mask] != 0) ++probe;
    if (probe == kMaxProbes) return false;
    slots[(slot_of(hash) + probe) & mask] = hash_tag(hash) << 24 | static_cast<uint32_t>(id + 1);
  }
  return true;
}

void build_slots(const std::string& where, const std::vector<std::string>& pieces, std::vector<uint32_t>& slots) {
  size_t size = 4;
  while (size < 2 * pieces.size()) size *= 2;
  for (const size_t most = 16 * size; size <= most; size *= 2) {
    slots.assign(size, 0);
    if (fill_slots(pieces, slots)) return;
  }
  throw Error(where + ": too many pieces of the vocabulary are spelled the same or share one hash");
}

void check_ids(const WordPieceSpec& spec) {
  const auto check = [&](uint32_t id, const std::string& what) {
    if (id >= spec.pieces.size()) {
      throw Error(spec.where + ": " + what + " is token " + std::to_string(id) + ", but the vocabulary has " +
                  std::to_string(spec.pieces.size()) + " pieces");
    }
  };
  for (const uint32_t id : spec.prefix) check(id, "what leads a text");
  for (const uint32_t id : spec.suffix) check(id, "what follows a text");
  for (const schema::AddedTokenT& token : spec.added) {
    check(token.id, "added token '" + token.text + "'");
    if (token.special) continue;  // text is never read as a special token, so its flags decide nothing
    throw Error(spec.where + ": added token '" + token.text +
                "' is not a special one, so it is looked for inside texts, " +
                "which heed does not do. Remove it from the file if texts do not need it");
  }
  if (spec.prefix.size() + spec.suffix.size() > kMaxSpecialTokens) {
    throw Error(spec.where + ": more than " + std::to_string(kMaxSpecialTokens) + " special tokens around a text");
  }
}

std::set<uint32_t> alphabet_of(const WordPieceSpec& spec) {
  std::set<uint32_t> alphabet;
  for (const std::string& piece : spec.pieces) {
    for (const uint32_t c : code_points(piece)) alphabet.insert(c);
  }
  return alphabet;
}

}  // namespace

void build_vocabulary(const std::string& where, const std::vector<std::string>& pieces, const std::set<uint32_t>& hidden,
                      schema::TokenizerT& out) {
  if (pieces.empty()) throw Error(where + ": the vocabulary is empty");
  if (pieces.size() > kMaxVocabulary) throw Error(where + ": a vocabulary of more than 16777214 pieces");
  uint64_t bytes = 0;
  for (const std::string& piece : pieces) {
    bytes += piece.size();
    if (bytes > UINT32_MAX) throw Error(where + ": the vocabulary has more than 4 GiB of text");
    out.piece_bytes.insert(out.piece_bytes.end(), piece.begin(), piece.end());
    out.piece_ends.push_back(static_cast<uint32_t>(bytes));
    out.longest_piece = std::max(out.longest_piece, static_cast<uint32_t>(code_points(piece).size()));
  }
  out.vocabulary = static_cast<uint32_t>(pieces.size());
  std::vector<std::string> found = pieces;
  for (const uint32_t id : hidden) found.at(id).clear();
  build_slots(where, found, out.slots);
}

void build_wordpiece(const WordPieceSpec& spec, schema::TokenizerT& out) {
  build_vocabulary(spec.where, spec.pieces, {}, out);
  if (spec.max_word_chars > kMaxWordCharacters) {
    throw Error(spec.where + ": \"max_input_chars_per_word\" is " + std::to_string(spec.max_word_chars) +
                ", heed has at most " + std::to_string(kMaxWordCharacters));
  }
  const auto unknown = std::find(spec.pieces.rbegin(), spec.pieces.rend(), spec.unknown);
  if (unknown == spec.pieces.rend()) {
    throw Error(spec.where + ": the vocabulary has no '" + spec.unknown + "', which stands for unknown words");
  }
  check_ids(spec);
  out.kind = schema::TokenizerKind::wordpiece;
  out.unknown = static_cast<uint32_t>(spec.pieces.rend() - unknown - 1);
  out.prefix = spec.prefix;
  out.suffix = spec.suffix;
  out.continuing_prefix = spec.continuing_prefix;
  out.max_word_chars = spec.max_word_chars;
  for (const schema::AddedTokenT& token : spec.added) out.added.push_back(std::make_unique<schema::AddedTokenT>(token));
  const std::set<uint32_t> alphabet = alphabet_of(spec);
  build_normalizer(spec.normalizer, &alphabet, out);
}

void build_tokenizer(const fs::path& folder, const std::string& model_type, schema::TokenizerT& out) {
  const bool json = fs::exists(folder / "tokenizer.json");
  build_wordpiece(json ? read_tokenizer_json(folder) : read_vocabulary_text(folder, model_type), out);
}

}  // namespace heed::tools
