// The tables of byte-pair and Unigram tokenizers.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer_subwords.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "convert/tokenizer_trie.h"
#include "convert/unicode.h"
#include "error.h"
#include "text/merges.h"
#include "text/units.h"
#include "text/utf8.h"

namespace heed::tools {
namespace {

using schema::SplitKind;
using schema::TokenizerKind;

constexpr float kUnknownPenalty = 10.0f;  // SentencePiece's, below the lowest score
const std::string kSpace = "\xE2\x96\x81";

std::vector<std::string> characters_of(const std::string& piece) {
  std::vector<std::string> result;
  const auto* bytes = reinterpret_cast<const uint8_t*>(piece.data());
  for (size_t i = 0; i < piece.size(); i += result.back().size()) {
    result.push_back(piece.substr(i, decode_utf8(bytes + i, piece.size() - i).bytes));
  }
  return result;
}

std::set<uint32_t> hidden_ids(const SubwordSpec& spec) {
  std::set<uint32_t> hidden(spec.not_in_text.begin(), spec.not_in_text.end());
  if (spec.unknown) hidden.insert(*spec.unknown);
  for (const schema::AddedTokenT& token : spec.added) {
    if (token.special) hidden.insert(token.id);
  }
  return hidden;
}

// Merges as the device does them, to see which pieces come out whole.
class Merger {
 public:
  explicit Merger(const std::vector<schema::Merge>& merges) {
    for (const schema::Merge& merge : merges) table_[key(merge.left(), merge.right())] = &merge;
  }

  std::vector<uint32_t> merge(std::vector<uint32_t> ids) const {
    for (;;) {
      size_t at = 0;
      const schema::Merge* best = nullptr;
      for (size_t i = 0; i + 1 < ids.size(); ++i) {
        const auto found = table_.find(key(ids[i], ids[i + 1]));
        if (found == table_.end() || (best && found->second->rank() >= best->rank())) continue;
        best = found->second;
        at = i;
      }
      if (!best) return ids;
      ids[at] = best->id();
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
  }

 private:
  static uint64_t key(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }
  std::unordered_map<uint64_t, const schema::Merge*> table_;
};

// Pieces that merging their bytes does not give, so a word that is spelled like one must not be looked up.
void hide_unreachable(const SubwordSpec& spec, const std::vector<uint32_t>& byte_pieces, std::set<uint32_t>& hidden) {
  const Merger merger(spec.merges);
  for (uint32_t id = 0; id < spec.pieces.size(); ++id) {
    std::vector<uint32_t> ids;
    for (const char c : spec.pieces[id]) ids.push_back(byte_pieces[static_cast<uint8_t>(c)]);
    if (spec.pieces[id].size() > kWindow || merger.merge(std::move(ids)) != std::vector<uint32_t>{id}) hidden.insert(id);
  }
}

std::vector<uint32_t> find_byte_pieces(const SubwordSpec& spec, const std::set<uint32_t>& hidden) {
  std::vector<uint32_t> found(256, kNoPiece);
  for (uint32_t id = 0; id < spec.pieces.size(); ++id) {
    if (spec.pieces[id].size() == 1 && hidden.count(id) == 0) found[static_cast<uint8_t>(spec.pieces[id][0])] = id;
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    if (found[byte] == kNoPiece) {
      throw Error(spec.where + ": the vocabulary has no piece for the byte " + std::to_string(byte) +
                  ", so not every text could be written in it. Train it with the initial alphabet of all 256 bytes");
    }
  }
  return found;
}

void build_merges(const SubwordSpec& spec, schema::TokenizerT& out) {
  if (spec.merges.size() > kMaxVocabulary) throw Error(spec.where + ": more than 16777214 merges");
  out.merges = spec.merges;
  if (spec.merges.empty()) return;
  out.merge_slots = build_slots(
      spec.where, "merges", spec.merges.size(), [&](size_t i) { return merge_hash(spec.merges[i].left(), spec.merges[i].right()); },
      [](size_t) { return false; });
}

void build_bpe(const SubwordSpec& spec, schema::TokenizerT& out) {
  std::set<uint32_t> hidden = hidden_ids(spec);
  out.byte_pieces = spec.byte_pieces;
  if (spec.split == SplitKind::gpt2) {
    out.byte_pieces = find_byte_pieces(spec, hidden);
    if (!spec.ignore_merges) hide_unreachable(spec, out.byte_pieces, hidden);
    build_gpt2_classes(out);
  }
  build_vocabulary(spec.where, spec.pieces, hidden, out, PieceUnit::kBytes);
  build_merges(spec, out);
}

void build_unigram(const SubwordSpec& spec, schema::TokenizerT& out) {
  const std::set<uint32_t> hidden = hidden_ids(spec);
  build_vocabulary(spec.where, spec.pieces, hidden, out, PieceUnit::kBytes);
  std::map<std::string, uint32_t> numbers;
  float lowest = 0;
  out.longest_piece = 0;
  const auto add = [&](const std::string& piece, float score, uint32_t number) {
    if (piece.size() > kLongestPiece) {
      throw Error(spec.where + ": piece " + std::to_string(number) + " has " + std::to_string(piece.size()) + " bytes, heed looks for at most " + std::to_string(kLongestPiece));
    }
    numbers.emplace(piece, number);
    lowest = std::min(lowest, score);
    out.longest_piece = std::max(out.longest_piece, static_cast<uint32_t>(piece.size()));
  };
  out.scores = spec.scores;
  for (uint32_t id = 0; id < spec.pieces.size(); ++id) {
    const bool found = (spec.listed.empty() || spec.listed[id]) && hidden.count(id) == 0 && !spec.pieces[id].empty();
    if (found) add(spec.pieces[id], spec.scores[id], id);
  }
  for (const auto& [piece, score] : spec.unlisted) {
    add(piece, score, static_cast<uint32_t>(out.scores.size()));
    out.scores.push_back(score);
  }
  out.trie = build_trie(numbers);
  out.unknown_score = lowest - kUnknownPenalty;
  out.byte_pieces = spec.byte_pieces;
}

// Whether a piece has a space that does not stand at its front among others.
bool has_inner_space(const std::vector<std::string>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [](const std::string& piece) {
    size_t front = 0;
    while (piece.compare(front, kSpace.size(), kSpace) == 0) front += kSpace.size();
    return piece.find(kSpace, front) != std::string::npos;
  });
}

// A compiled map: the bytes of its double array, the array, then the texts.
void build_charsmap(const SubwordSpec& spec, schema::TokenizerT& out) {
  if (spec.charsmap.empty()) return;
  uint32_t bytes = 0;
  if (spec.charsmap.size() >= 4) std::memcpy(&bytes, spec.charsmap.data(), 4);
  if (bytes == 0 || bytes % 4 != 0 || bytes > spec.charsmap.size() - 4) {
    throw Error(spec.where + ": the compiled map of characters has " + std::to_string(spec.charsmap.size()) + " bytes and says that " + std::to_string(bytes) +
                " of them are its tree; the file is damaged");
  }
  out.charsmap.resize(bytes / 4);
  std::memcpy(out.charsmap.data(), spec.charsmap.data() + 4, bytes);
  out.charsmap_text.assign(spec.charsmap.begin() + 4 + bytes, spec.charsmap.end());
}

}  // namespace

Unmade unmade_pieces(const SubwordSpec& spec) {
  std::vector<bool> made(spec.pieces.size());
  for (const schema::Merge& merge : spec.merges) made[merge.id()] = true;
  for (const schema::AddedTokenT& token : spec.added) made[token.id] = true;
  for (const uint32_t id : hidden_ids(spec)) made[id] = true;
  Unmade unmade;
  for (size_t id = 0; id < spec.pieces.size(); ++id) {
    const std::string& piece = spec.pieces[id];
    const bool filler = piece.rfind("madeupword", 0) == 0;  // fairseq's, that round a table up
    const auto characters = std::count_if(piece.begin(), piece.end(), [](char c) { return (c & 0xC0) != 0x80; });
    if (made[id] || filler || characters < 2) continue;
    if (unmade.count++ == 0) unmade.example = piece;
  }
  return unmade;
}

std::vector<schema::Merge> merges_by_score(const std::vector<std::string>& pieces, const std::vector<float>& scores, const std::vector<bool>& mergeable) {
  std::unordered_map<std::string, uint32_t> ids;
  std::map<float, uint32_t, std::greater<float>> ranks;
  for (uint32_t id = 0; id < pieces.size(); ++id) {
    if (!mergeable[id]) continue;
    ids.emplace(pieces[id], id);
    ranks[scores[id]] = 0;
  }
  uint32_t next = 0;
  for (auto& [score, rank] : ranks) rank = next++;
  std::vector<schema::Merge> merges;
  for (uint32_t id = 0; id < pieces.size(); ++id) {
    if (!mergeable[id]) continue;
    std::string left;
    for (const std::string& character : characters_of(pieces[id])) {
      const auto before = ids.find(left);
      const auto behind = left.empty() ? ids.end() : ids.find(pieces[id].substr(left.size()));
      if (before != ids.end() && behind != ids.end()) merges.emplace_back(before->second, behind->second, ranks[scores[id]], id);
      left += character;
    }
  }
  return merges;
}

void build_subwords(const SubwordSpec& spec, schema::TokenizerT& out) {
  build_around(spec, out);
  out.kind = spec.kind;
  out.split = spec.split;
  if (spec.split == SplitKind::space_runs && has_inner_space(spec.pieces)) out.split = SplitKind::none;
  out.prefix_space = spec.prefix_space;
  out.collapse_spaces = spec.collapse_spaces;
  out.trim_end = spec.trim_end;
  out.any_white_space = spec.any_white_space;
  out.whole_text = spec.whole_text;
  out.join_unknown = spec.join_unknown;
  out.unknown = spec.unknown.value_or(HEED_NO_TOKEN);
  if (!spec.unknown && spec.byte_pieces.empty() && spec.split != SplitKind::gpt2) {
    throw Error(spec.where + ": there is no unknown token and no pieces for single bytes, so not every text could be written in it");
  }
  build_charsmap(spec, out);
  spec.kind == TokenizerKind::unigram ? build_unigram(spec, out) : build_bpe(spec, out);
}

}  // namespace heed::tools
