// A checkpoint's tokenizer files, read strictly, and the tables that runtime/text uses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "convert/unicode.h"
#include "model_generated.h"

namespace heed::tools {

// A WordPiece tokenizer as its files describe it.
struct WordPieceSpec {
  std::string where;                // the file, for messages
  std::vector<std::string> pieces;  // by id
  std::string unknown = "[UNK]";
  std::string continuing_prefix = "##";
  uint32_t max_word_chars = 100;
  NormalizerOptions normalizer;
  std::vector<uint32_t> prefix;
  std::vector<uint32_t> suffix;
  std::vector<schema::AddedTokenT> added;
};

// The pieces by id, and their hash table, in which those of `hidden` are not found. `where` is for messages.
void build_vocabulary(const std::string& where, const std::vector<std::string>& pieces, const std::set<uint32_t>& hidden,
                      schema::TokenizerT& out);

// Fills the tables of a word tokenizer, whose rules and special ids `out` has, from a file with a piece on each line. Special
// pieces are found in no text. Where no piece has a capital letter of ASCII, texts are read in lower case.
void build_words(const std::filesystem::path& file, schema::TokenizerT& out);

// A text file's lines, without their ends.
std::vector<std::string> read_lines(const std::filesystem::path& path);

// Builds the tables. Of two pieces that are spelled the same, the later one is found.
void build_wordpiece(const WordPieceSpec& spec, schema::TokenizerT& out);

// Reads tokenizer.json if it is there, else vocab.txt and tokenizer_config.json, and fills all of `out` but the
// truncation. Anything that heed does not do is an Error that names it.
void build_tokenizer(const std::filesystem::path& folder, const std::string& model_type, schema::TokenizerT& out);

}  // namespace heed::tools
