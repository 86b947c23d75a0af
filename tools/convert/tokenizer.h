// A checkpoint's tokenizer files, read strictly, and the tables that runtime/text uses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "convert/unicode.h"
#include "model_generated.h"

namespace heed::tools {

// What every kind of tokenizer has, as its files describe it.
struct TokenizerSpec {
  std::string where;                // the file, for messages
  std::vector<std::string> notes;   // what its user should know
  std::vector<std::string> pieces;  // by id
  std::vector<uint32_t> prefix;
  std::vector<uint32_t> suffix;
  std::vector<schema::AddedTokenT> added;
};

struct WordPieceSpec : TokenizerSpec {
  std::string unknown = "[UNK]";
  std::string continuing_prefix = "##";
  uint32_t max_word_chars = 100;
  NormalizerOptions normalizer;
};

// How the hash table of a vocabulary, and `longest_piece`, see a piece.
enum class PieceUnit { kCharacters, kBytes };

// The pieces by id, and their hash table, in which those of `hidden` are not found. `where` is for messages.
void build_vocabulary(const std::string& where, const std::vector<std::string>& pieces, const std::set<uint32_t>& hidden,
                      schema::TokenizerT& out, PieceUnit unit = PieceUnit::kCharacters);

// Checks what `spec` says of ids, and takes over the tokens around a text and the added ones.
void build_around(const TokenizerSpec& spec, schema::TokenizerT& out);

// A hash table of `count` entries for runtime/text: a slot has the top 8 bits of hash(i), and i + 1. Of two entries with one hash
// the later one is found. `entries` names them in a message; those for which skip(i) holds are not found.
std::vector<uint32_t> build_slots(const std::string& where, const char* entries, size_t count, const std::function<uint32_t(size_t)>& hash,
                                  const std::function<bool(size_t)>& skip);

// Fills the tables of a word tokenizer, whose rules and special ids `out` has, from a file with a piece on each line. Special
// pieces are found in no text. Where no piece has a capital letter of ASCII, texts are read in lower case.
void build_words(const std::filesystem::path& file, schema::TokenizerT& out);

// A text file's lines, without their ends.
std::vector<std::string> read_lines(const std::filesystem::path& path);

// Builds the tables. Of two pieces that are spelled the same, the later one is found.
void build_wordpiece(const WordPieceSpec& spec, schema::TokenizerT& out);

// A source's tokenizer and, of a translator, its target's.
struct Tokenizers {
  std::unique_ptr<schema::TokenizerT> source;
  std::unique_ptr<schema::TokenizerT> target;  // null: the same vocabulary and rules as the source's
  std::vector<std::string> notes;
};

// Whether a folder has files that build_tokenizer reads.
bool has_tokenizer(const std::filesystem::path& folder);

// Reads the tokenizer of a Hugging Face folder and fills all of `out` but the truncation, from the first of these that is there:
// source.spm (and vocab.json), tokenizer.json, spiece.model, sentencepiece.bpe.model or tokenizer.model, vocab.txt, vocab.json
// and merges.txt. Anything that heed does not do is an Error that names it. `model_type` ("bert", "t5", "bart", "marian", ...) says
// what files without such a statement mean. `notes` gets what the report should say; it may be null.
void build_tokenizer(const std::filesystem::path& folder, const std::string& model_type, schema::TokenizerT& out, std::vector<std::string>* notes = nullptr);

// The same for both sides. Only a folder with source.spm and target.spm (Marian's) has a target's; of it, `prefix` is the padding
// token, which begins an output, and `suffix` the token that ends one.
Tokenizers read_tokenizers(const std::filesystem::path& folder, const std::string& model_type);

}  // namespace heed::tools
