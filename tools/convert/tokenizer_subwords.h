// Byte-pair and Unigram tokenizers: what their files say, and the tables that runtime/text uses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convert/tokenizer.h"

namespace heed::tools {

struct SubwordSpec : TokenizerSpec {
  schema::TokenizerKind kind = schema::TokenizerKind::bpe;
  schema::SplitKind split = schema::SplitKind::space_runs;  // space_runs becomes none where a piece has a space behind other characters
  schema::PrefixSpace prefix_space = schema::PrefixSpace::none;
  bool collapse_spaces = false;
  schema::TrimKind trim_end = schema::TrimKind::none;
  bool any_white_space = false;
  bool whole_text = false;
  bool join_unknown = false;
  bool ignore_merges = false;          // a run that is a piece is not merged
  std::optional<uint32_t> unknown;
  std::vector<uint32_t> not_in_text;   // control pieces, pieces of one byte: found in no text
  std::vector<uint32_t> byte_pieces;   // 256, or none. Of split gpt2 they are found by what they are spelled like
  std::vector<schema::Merge> merges;
  std::vector<float> scores;           // by id, of unigram
  std::string charsmap;                // SentencePiece's compiled map of characters
  // Marian: pieces of the model that vocab.json does not have, with their scores. They become the unknown token.
  std::vector<std::pair<std::string, float>> unlisted;
  // Marian: those of `pieces` that this side's model has. Empty: all.
  std::vector<bool> listed;
};

// Builds the tables.
void build_subwords(const SubwordSpec& spec, schema::TokenizerT& out);

// Pieces of several characters that no merge gives, though texts are searched for them: how many, and one of them. There are none where
// all merges are there, but for pieces that a vocabulary was given by hand.
struct Unmade {
  size_t count = 0;
  std::string example;
};
Unmade unmade_pieces(const SubwordSpec& spec);

// Ranks merges for a vocabulary with scores, as SentencePiece's byte-pair models do: any two pieces that together are a piece.
std::vector<schema::Merge> merges_by_score(const std::vector<std::string>& pieces, const std::vector<float>& scores, const std::vector<bool>& mergeable);

// tokenizer.json with the model BPE or Unigram.
SubwordSpec read_subwords_json(const std::filesystem::path& folder);
bool is_wordpiece_json(const std::filesystem::path& folder);

// A SentencePiece model file. T5's has 100 more pieces, <extra_id_99> to <extra_id_0>.
SubwordSpec read_sentencepiece(const std::filesystem::path& file, const std::string& model_type);

// Marian's: pieces and scores from `name` (source.spm or target.spm), ids from vocab.json.
SubwordSpec read_marian(const std::filesystem::path& folder, const std::string& name);

// GPT-2's vocab.json and merges.txt.
SubwordSpec read_vocabulary_and_merges(const std::filesystem::path& folder, const std::string& model_type);

}  // namespace heed::tools
