// The tables of a tokenizer: pieces, their hash table, the normalizer.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer.h"

#include <algorithm>
#include <memory>

#include "convert/tokenizer_files.h"
#include "convert/tokenizer_parts.h"
#include "convert/tokenizer_subwords.h"
#include "error.h"
#include "text/added.h"
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

uint32_t hash_of(const std::string& piece, PieceUnit unit) {
  uint32_t hash = kHashStart;
  if (unit == PieceUnit::kBytes) {
    for (const char c : piece) hash = hash_step(hash, static_cast<uint8_t>(c));
  } else {
    for (const uint32_t c : code_points(piece)) hash = hash_step(hash, c);
  }
  return hash;
}

void check_ids(const TokenizerSpec& spec) {
  const auto check = [&](uint32_t id, const std::string& what) {
    if (id >= spec.pieces.size()) {
      throw Error(spec.where + ": " + what + " is token " + std::to_string(id) + ", but the vocabulary has " +
                  std::to_string(spec.pieces.size()) + " pieces");
    }
  };
  for (const uint32_t id : spec.prefix) check(id, "what leads a text");
  for (const uint32_t id : spec.suffix) check(id, "what follows a text");
  for (const schema::AddedTokenT& token : spec.added) check(token.id, "added token " + in_quotes(token.text));
  if (spec.prefix.size() + spec.suffix.size() > kMaxSpecialTokens) {
    throw Error(spec.where + ": more than " + std::to_string(kMaxSpecialTokens) + " special tokens around a text");
  }
}

// Of those that are looked for inside texts; the flags of special ones decide nothing, since text is never read as a special token.
void check_added(const TokenizerSpec& spec) {
  size_t looked_for = 0;
  for (const schema::AddedTokenT& token : spec.added) {
    if (token.special) continue;
    if (token.single_word) {
      throw Error(spec.where + ": added token " + in_quotes(token.text) + " has \"single_word\", which heed does not do. Set it to false, or make the token special");
    }
    if (++looked_for > kMaxAddedTokens) {
      throw Error(spec.where + ": more than " + std::to_string(kMaxAddedTokens) + " added tokens that are not special ones; heed looks for at most so many");
    }
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

std::vector<uint32_t> build_slots(const std::string& where, const char* entries, size_t count, const std::function<uint32_t(size_t)>& hash,
                                  const std::function<bool(size_t)>& skip) {
  std::vector<uint32_t> slots;
  const auto fill = [&] {  // false if some entry finds no place near enough
    const uint32_t mask = static_cast<uint32_t>(slots.size()) - 1;
    for (size_t i = count; i-- > 0;) {  // the later of two equal ones comes first, and is found first
      if (skip(i)) continue;
      const uint32_t key = hash(i);
      uint32_t probe = 0;
      while (probe < kMaxProbes && slots[(slot_of(key) + probe) & mask] != 0) ++probe;
      if (probe == kMaxProbes) return false;
      slots[(slot_of(key) + probe) & mask] = hash_tag(key) << 24 | static_cast<uint32_t>(i + 1);
    }
    return true;
  };
  size_t size = 4;
  while (size < 2 * count) size *= 2;
  for (const size_t most = 16 * size; size <= most; size *= 2) {
    slots.assign(size, 0);
    if (fill()) return slots;
  }
  throw Error(where + ": too many " + entries + " are the same or share one hash");
}

void build_vocabulary(const std::string& where, const std::vector<std::string>& pieces, const std::set<uint32_t>& hidden,
                      schema::TokenizerT& out, PieceUnit unit) {
  if (pieces.empty()) throw Error(where + ": the vocabulary is empty");
  if (pieces.size() > kMaxVocabulary) throw Error(where + ": a vocabulary of more than 16777214 pieces");
  uint64_t bytes = 0;
  for (const std::string& piece : pieces) {
    bytes += piece.size();
    if (bytes > UINT32_MAX) throw Error(where + ": the vocabulary has more than 4 GiB of text");
    out.piece_bytes.insert(out.piece_bytes.end(), piece.begin(), piece.end());
    out.piece_ends.push_back(static_cast<uint32_t>(bytes));
    const size_t length = unit == PieceUnit::kBytes ? piece.size() : code_points(piece).size();
    out.longest_piece = std::max(out.longest_piece, static_cast<uint32_t>(length));
  }
  out.vocabulary = static_cast<uint32_t>(pieces.size());
  out.slots = build_slots(
      where, "pieces of the vocabulary", pieces.size(), [&](size_t id) { return hash_of(pieces[id], unit); },
      [&](size_t id) { return pieces[id].empty() || hidden.count(static_cast<uint32_t>(id)) != 0; });
}

void build_around(const TokenizerSpec& spec, schema::TokenizerT& out) {
  check_ids(spec);
  check_added(spec);
  out.prefix = spec.prefix;
  out.suffix = spec.suffix;
  for (const schema::AddedTokenT& token : spec.added) out.added.push_back(std::make_unique<schema::AddedTokenT>(token));
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
  build_around(spec, out);
  out.kind = schema::TokenizerKind::wordpiece;
  out.unknown = static_cast<uint32_t>(spec.pieces.rend() - unknown - 1);
  out.continuing_prefix = spec.continuing_prefix;
  out.max_word_chars = spec.max_word_chars;
  const std::set<uint32_t> alphabet = alphabet_of(spec);
  build_normalizer(spec.normalizer, &alphabet, out);
}

bool has_tokenizer(const fs::path& folder) {
  for (const char* name : {"source.spm", "tokenizer.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "vocab.json", "vocab.txt", "merges.txt", "target.spm"}) {
    if (fs::exists(folder / name)) return true;
  }
  return false;
}

void build_tokenizer(const fs::path& folder, const std::string& model_type, schema::TokenizerT& out, std::vector<std::string>* notes) {
  if (fs::exists(folder / "source.spm")) return build_subwords(read_marian(folder, "source.spm"), out);
  if (fs::exists(folder / "tokenizer.json")) {
    if (is_wordpiece_json(folder)) return build_wordpiece(read_tokenizer_json(folder), out);
    const SubwordSpec spec = read_subwords_json(folder);
    if (notes) notes->insert(notes->end(), spec.notes.begin(), spec.notes.end());
    return build_subwords(spec, out);
  }
  for (const char* name : {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model"}) {
    if (fs::exists(folder / name)) return build_subwords(read_sentencepiece(folder / name, model_type), out);
  }
  if (fs::exists(folder / "vocab.txt")) return build_wordpiece(read_vocabulary_text(folder, model_type), out);
  if (model_type == "marian" || fs::exists(folder / "target.spm")) {
    throw Error((folder / "source.spm").string() + ": is missing; Marian's tokenizer is source.spm, target.spm and vocab.json");
  }
  if (!fs::exists(folder / "vocab.json") && !fs::exists(folder / "merges.txt")) {
    throw Error(folder.string() + ": has none of the files of a tokenizer that heed reads: tokenizer.json, vocab.txt, vocab.json with merges.txt, spiece.model, tokenizer.model, source.spm");
  }
  build_subwords(read_vocabulary_and_merges(folder, model_type), out);
}

Tokenizers read_tokenizers(const fs::path& folder, const std::string& model_type) {
  Tokenizers tokenizers;
  tokenizers.source = std::make_unique<schema::TokenizerT>();
  build_tokenizer(folder, model_type, *tokenizers.source, &tokenizers.notes);
  if (!fs::exists(folder / "source.spm")) return tokenizers;
  tokenizers.target = std::make_unique<schema::TokenizerT>();
  build_subwords(read_marian(folder, "target.spm"), *tokenizers.target);
  return tokenizers;
}

}  // namespace heed::tools
