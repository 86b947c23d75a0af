// tokenizer.json with the models BPE and Unigram: GPT-2's bytes, or SentencePiece's sentences as the `tokenizers` library does them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "convert/tokenizer_byte_level.h"
#include "convert/tokenizer_parts.h"
#include "convert/tokenizer_subwords.h"
#include "error.h"
#include "text/vocabulary.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

using schema::PrefixSpace;
using schema::SplitKind;
using schema::TokenizerKind;

const std::string kSpace = "\xE2\x96\x81";
constexpr const char* kAdvice = "heed has the pieces of GPT-2 (ByteLevel) and of SentencePiece; save the checkpoint with its SentencePiece model if it has one";

std::string type_of(Config& config) { return config.text("type", ""); }

// The steps of {"type": "Sequence", `key`: [...]}, or the one that stands alone.
std::vector<Config> steps(const Json& whole, const std::string& key, const std::string& where) {
  Config config(whole, where);
  if (type_of(config) != "Sequence") return {config};
  std::vector<Config> result;
  for (const Json& step : list(config, key)) result.emplace_back(step, where);
  config.finish();
  return result;
}

std::vector<Config> steps_of(Config& whole, const std::string& name, const std::string& key) {
  const Json* value = whole.find(name);
  if (!value) return {};
  return steps(*value, key, whole.where() + ", " + name);
}

std::string decoded_base64(const std::string& text, const std::string& where) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  uint32_t held = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const size_t value = alphabet.find(c);
    if (value == std::string::npos) throw Error(where + ": \"precompiled_charsmap\" is not base64");
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xFF);
  }
  return bytes;
}

// {"pattern": {"String": S}} or {"Regex": R}, with what replaces it.
struct Replace {
  std::string kind, pattern, content;
};
Replace read_replace(Config& step) {
  Replace result;
  Config pattern = part(step, "pattern");
  result.kind = pattern.has("Regex") ? "Regex" : "String";
  result.pattern = pattern.text(result.kind, "");
  pattern.finish();
  result.content = step.text("content", "");
  return result;
}

// What the normalizer does to spaces; the rest goes into the spec.
struct Spaces {
  bool several_are_one = false;  // Replace " {2,}"
  bool strip_right = false;
  bool prepend = false;
  bool escape = false;  // Replace " " by U+2581
};

void read_normalizer(Config& whole, SubwordSpec& spec, Spaces& spaces) {
  bool first = true;
  for (Config& step : steps_of(whole, "normalizer", "normalizers")) {
    const std::string type = type_of(step);
    if (type == "Precompiled" && first) {
      spec.charsmap = decoded_base64(step.text("precompiled_charsmap", ""), step.where());
    } else if (type == "Strip") {
      step.only("strip_left", {false});
      step.only("strip_right", {true});
      spaces.strip_right = true;
    } else if (type == "Prepend") {
      step.only("prepend", {kSpace});
      spaces.prepend = true;
    } else if (type == "Replace") {
      const Replace replace = read_replace(step);
      const bool several = replace.kind == "Regex" && replace.pattern == " {2,}" && (replace.content == " " || replace.content == kSpace);
      const bool escape = replace.kind == "String" && replace.pattern == " " && replace.content == kSpace;
      if (!several && !escape) {
        throw Error(step.where() + ": replaces '" + replace.pattern + "' by '" + replace.content + "', which heed does not do; " + kAdvice);
      }
      (several ? spaces.several_are_one : spaces.escape) = true;
    } else {
      throw Error(step.where() + ": the step '" + type + "' is not one that heed has here; " + kAdvice);
    }
    step.finish();
    first = false;
  }
}

void read_byte_level(Config& step, SubwordSpec& spec) {
  step.only("use_regex", {true});
  step.ignore({"trim_offsets"});
  spec.split = SplitKind::gpt2;
  spec.prefix_space = step.flag("add_prefix_space", true) ? PrefixSpace::unless_space : PrefixSpace::none;
}

void read_metaspace(Config& step, bool after_words, SubwordSpec& spec) {
  step.only("replacement", {kSpace});
  step.ignore({"str_rep"});
  const std::string otherwise = step.flag("add_prefix_space", true) ? "always" : "never";
  const std::string scheme = step.text("prepend_scheme", otherwise);
  step.only("prepend_scheme", {"always", "first", "never"});
  const bool looks_for = std::any_of(spec.added.begin(), spec.added.end(), [](const auto& token) { return !token.special; });
  if (scheme == "first" && (looks_for || after_words)) {
    throw Error(step.where() + ": \"prepend_scheme\" is \"first\" where a text has several parts, which heed does not do; " + kAdvice);
  }
  if (scheme == "never" && after_words) throw Error(step.where() + ": words without a space before them, which heed does not do; " + kAdvice);
  spec.prefix_space = scheme == "never" ? PrefixSpace::none : PrefixSpace::unless_space;
  spec.split = step.flag("split", true) ? SplitKind::spaces : SplitKind::space_runs;
}

void read_splitter(Config& whole, SubwordSpec& spec, const Spaces& spaces) {
  std::vector<Config> all = steps_of(whole, "pre_tokenizer", "pretokenizers");
  bool after_words = false;
  bool done = false;
  for (Config& step : all) {
    const std::string type = type_of(step);
    if (type == "ByteLevel" && all.size() == 1 && spec.kind == TokenizerKind::bpe) {
      read_byte_level(step, spec);
      done = true;
    } else if (type == "Metaspace" && !done) {
      read_metaspace(step, after_words, spec);
      done = true;
    } else if (type == "WhitespaceSplit" && !after_words && !done) {
      after_words = true;
    } else {
      throw Error(step.where() + ": the step '" + type + "' is not one that heed has here; " + kAdvice);
    }
    step.finish();
  }
  if (!done && (after_words || !spaces.escape)) throw Error(whole.where() + ": nothing says where the text is cut into words; " + kAdvice);
  if (spec.split == SplitKind::gpt2 && (spaces.escape || spaces.several_are_one || spaces.prepend || !spec.charsmap.empty())) {
    throw Error(whole.where() + ": a normalizer before ByteLevel, which heed does not have; " + kAdvice);
  }
  spec.any_white_space = after_words;
  spec.collapse_spaces = after_words || spaces.several_are_one;
  spec.trim_end = after_words || spaces.strip_right ? schema::TrimKind::white_space : schema::TrimKind::none;
  if (spaces.prepend) spec.prefix_space = PrefixSpace::always;
}

std::pair<uint32_t, uint32_t> merge_pair(const Json& merge, const std::map<std::string, uint32_t>& ids, const std::string& where) {
  std::string left, right;
  if (merge.is_string()) {
    const std::string text = merge.get<std::string>();
    const size_t space = text.find(' ');
    left = text.substr(0, space);
    right = space == std::string::npos ? "" : text.substr(space + 1);
  } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    left = merge[0].get<std::string>();
    right = merge[1].get<std::string>();
  }
  const auto first = ids.find(left);
  const auto second = ids.find(right);
  if (first == ids.end() || second == ids.end()) throw Error(where + ": " + shown(merge) + " is not a merge of two pieces of the vocabulary");
  return {first->second, second->second};
}

std::vector<uint32_t> fallback_pieces(const std::vector<std::string>& pieces, const std::string& where) {
  std::vector<uint32_t> result(256, kNoPiece);
  for (uint32_t id = 0; id < pieces.size(); ++id) {
    const int32_t byte = byte_of_piece(pieces[id], where);
    if (byte >= 0) add_byte_piece(result, byte, id, where);
  }
  check_byte_pieces(result, where);
  return result;
}

void read_bpe(Config config, SubwordSpec& spec) {
  spec.kind = TokenizerKind::bpe;
  config.ignore({"type"});
  config.only("dropout", {0.0});
  config.only("continuing_subword_prefix", {""});
  config.only("end_of_word_suffix", {""});
  spec.join_unknown = config.flag("fuse_unk", false);
  spec.ignore_merges = config.flag("ignore_merges", false);
  const bool fallback = config.flag("byte_fallback", false);
  const std::string unknown = config.text("unk_token", "");
  spec.pieces = pieces_by_id(config.find("vocab"), config.where());
  const std::map<std::string, uint32_t> ids = ids_of(spec.pieces);
  if (!unknown.empty()) {
    const auto found = ids.find(unknown);
    if (found == ids.end()) throw Error(config.where() + ": the vocabulary has no '" + unknown + "', which stands for what it does not have");
    spec.unknown = found->second;
  }
  for (const Json& merge : list(config, "merges")) {
    const auto [left, right] = merge_pair(merge, ids, config.where());
    add_merge(spec, ids, left, right, config.where());
  }
  config.finish();
  if (fallback) spec.byte_pieces = fallback_pieces(spec.pieces, config.where());
  spec.not_in_text = spec.byte_pieces;
}

void read_unigram(Config config, SubwordSpec& spec) {
  spec.kind = TokenizerKind::unigram;
  spec.join_unknown = true;
  config.ignore({"type"});
  const bool fallback = config.flag("byte_fallback", false);
  for (const Json& piece : list(config, "vocab")) {
    const bool sound = piece.is_array() && piece.size() == 2 && piece[0].is_string() && piece[1].is_number() && std::isfinite(piece[1].get<float>());
    if (!sound) throw Error(config.where() + ": " + shown(piece) + " is not a piece with its score");
    spec.pieces.push_back(piece[0].get<std::string>());
    spec.scores.push_back(piece[1].get<float>());
  }
  if (!config.find("unk_id")) throw Error(config.where() + ": \"unk_id\" is missing, so not every text could be written in this vocabulary");
  spec.unknown = config.size("unk_id");
  if (*spec.unknown >= spec.pieces.size()) {
    throw Error(config.where() + ": \"unk_id\" is " + std::to_string(*spec.unknown) + ", but the vocabulary has " + std::to_string(spec.pieces.size()) + " pieces");
  }
  config.finish();
  if (fallback) spec.byte_pieces = fallback_pieces(spec.pieces, config.where());
  spec.not_in_text = spec.byte_pieces;
}

void read_around(Config& whole, SubwordSpec& spec) {
  for (Config& step : steps_of(whole, "post_processor", "processors")) {
    if (type_of(step) != "ByteLevel") {
      read_post_processor(std::move(step), spec);
      continue;
    }
    step.ignore({"add_prefix_space", "trim_offsets", "use_regex"});  // it moves offsets only
    step.finish();
  }
}

// Decoders that do what heed does: join pieces, with spaces for U+2581.
void check_decoder(Config& whole) {
  for (Config& step : steps_of(whole, "decoder", "decoders")) {
    const std::string type = type_of(step);
    for (const char* known : {"ByteLevel", "Metaspace", "Replace", "ByteFallback", "Fuse", "Strip"}) {
      if (type == known) return;
    }
    throw Error(step.where() + ": the step '" + type + "' is not one that heed has here; " + kAdvice);
  }
}

// Published vocabularies have such pieces now and then, so that it is no error.
void note_unmade(SubwordSpec& spec) {
  const Unmade unmade = spec.kind == TokenizerKind::bpe && !spec.ignore_merges ? unmade_pieces(spec) : Unmade{};
  if (unmade.count == 0) return;
  spec.notes.push_back(spec.where + ": no merge gives " + std::to_string(unmade.count) + " of its pieces, " + shown(unmade.example) +
                       " for one, so no text has them. If \"merges\" was cut short, texts become other tokens than the model was trained with");
}

bool is_unigram(Config& model) {
  const std::string type = model.text("type", model.has("merges") ? "BPE" : "");
  if (type == "BPE" || type == "Unigram") return type == "Unigram";
  throw Error(model.where() + ": the model '" + type + "' is not one that heed has; it has WordPiece, BPE and Unigram");
}

// transformers lets tokenizer_config.json change these.
void read_beside(const fs::path& folder, SubwordSpec& spec) {
  auto beside = read_tokenizer_config(folder);
  if (!beside) return;
  beside->only("truncation_side", {"right"});
  if (spec.split != SplitKind::gpt2 || !beside->has("add_prefix_space")) return;
  spec.prefix_space = beside->flag("add_prefix_space", false) ? PrefixSpace::unless_space : PrefixSpace::none;
}

}  // namespace

bool is_wordpiece_json(const fs::path& folder) {
  Config config(read_json(folder / "tokenizer.json"), (folder / "tokenizer.json").string());
  Config model = part(config, "model");
  return model.text("type", model.has("merges") ? "BPE" : "WordPiece") == "WordPiece";
}

SubwordSpec read_subwords_json(const fs::path& folder) {
  const fs::path path = folder / "tokenizer.json";
  Config config(read_json(path), path.string());
  SubwordSpec spec;
  spec.where = path.string();
  Config model = part(config, "model");
  is_unigram(model) ? read_unigram(std::move(model), spec) : read_bpe(std::move(model), spec);
  const size_t scored = spec.pieces.size();
  read_added_tokens(config, spec);
  spec.scores.resize(spec.kind == TokenizerKind::unigram ? spec.pieces.size() : 0);
  for (size_t id = scored; id < spec.pieces.size(); ++id) spec.not_in_text.push_back(static_cast<uint32_t>(id));
  note_unmade(spec);
  Spaces spaces;
  read_normalizer(config, spec, spaces);
  read_splitter(config, spec, spaces);
  read_around(config, spec);
  check_decoder(config);
  if (spec.split == SplitKind::gpt2) spell_out_bytes(spec);
  // The length comes from other files (the front end knows which), and heed pads nothing.
  config.ignore({"version", "truncation", "padding"});
  config.finish();
  for (const schema::AddedTokenT& token : spec.added) {
    if (!token.special && token.normalized && !spec.charsmap.empty()) {
      throw Error(spec.where + ": added token '" + token.text + "' is looked for in the normalized text, which heed does not do here. Set its \"normalized\" to false");
    }
  }
  read_beside(folder, spec);
  return spec;
}

}  // namespace heed::tools
