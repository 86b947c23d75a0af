// SentencePiece's model files: a Protocol Buffers message, of which heed reads the pieces and the rules that change tokens.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "convert/json.h"
#include "convert/tokenizer_byte_level.h"
#include "convert/tokenizer_parts.h"
#include "convert/tokenizer_subwords.h"
#include "error.h"
#include "files.h"
#include "text/vocabulary.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

// One field of a message: numbers of wire types 0, 1 and 5 in `number`, type 2 in `bytes`.
struct Field {
  uint32_t id = 0;
  uint32_t type = 0;
  uint64_t number = 0;
  std::string_view bytes;

  bool flag() const { return number != 0; }
  float real() const {
    const auto bits = static_cast<uint32_t>(number);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

class Message {
 public:
  Message(std::string_view bytes, const std::string& where) : rest_(bytes), where_(where) {}

  bool next(Field& field) {
    if (rest_.empty()) return false;
    const uint64_t key = varint();
    field = {};
    field.id = static_cast<uint32_t>(key >> 3);
    field.type = static_cast<uint32_t>(key & 7);
    if (key >> 32 != 0 || field.id == 0) fail();
    switch (field.type) {
      case 0: field.number = varint(); break;
      case 1: field.number = fixed(8); break;
      case 5: field.number = fixed(4); break;
      case 2: field.bytes = take(varint()); break;
      default: fail();
    }
    return true;
  }

 private:
  [[noreturn]] void fail() const { throw Error(where_ + ": not a SentencePiece model, or cut off"); }
  std::string_view take(uint64_t count) {
    if (count > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  uint64_t fixed(uint32_t count) {
    const std::string_view bytes = take(count);
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    return value;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
  }

  std::string_view rest_;
  const std::string& where_;
};

enum PieceType : uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct SentencePiece {
  std::string text;
  float score = 0;
  uint64_t type = kNormal;
};

struct SentencePieceModel {
  std::vector<SentencePiece> pieces;
  uint64_t kind = 1;  // unigram, bpe, word, char
  bool space_behind = false;
  std::string charsmap;
  bool dummy_prefix = true;
  bool remove_extra_spaces = true;
  bool escape_spaces = true;
  bool denormalizes = false;
};

// Of a field with one type only; a file that says otherwise is no model.
void want(const Field& field, uint32_t type, const std::string& where) {
  if (field.type != type) throw Error(where + ": not a SentencePiece model: field " + std::to_string(field.id) + " has the wrong type");
}

SentencePiece read_piece(std::string_view bytes, const std::string& where) {
  SentencePiece piece;
  Field field;
  for (Message message(bytes, where); message.next(field);) {
    if (field.id == 1) want(field, 2, where), piece.text = field.bytes;
    if (field.id == 2) want(field, 5, where), piece.score = field.real();
    if (field.id == 3) want(field, 0, where), piece.type = field.number;
  }
  return piece;
}

void read_trainer(std::string_view bytes, const std::string& where, SentencePieceModel& model) {
  Field field;
  for (Message message(bytes, where); message.next(field);) {
    if (field.id == 3) want(field, 0, where), model.kind = field.number;
    if (field.id == 24) want(field, 0, where), model.space_behind = field.flag();
  }
}

void read_normalizer(std::string_view bytes, const std::string& where, SentencePieceModel& model) {
  Field field;
  for (Message message(bytes, where); message.next(field);) {
    if (field.id == 2) want(field, 2, where), model.charsmap = field.bytes;
    if (field.id == 3) want(field, 0, where), model.dummy_prefix = field.flag();
    if (field.id == 4) want(field, 0, where), model.remove_extra_spaces = field.flag();
    if (field.id == 5) want(field, 0, where), model.escape_spaces = field.flag();
  }
}

SentencePieceModel read_model(const fs::path& path) {
  const MappedFile file(path);
  const std::string where = path.string();
  SentencePieceModel model;
  Field field;
  for (Message message(file.text(), where); message.next(field);) {
    if (field.id >= 1 && field.id <= 3) want(field, 2, where);
    if (field.id == 1) model.pieces.push_back(read_piece(field.bytes, where));
    if (field.id == 2) read_trainer(field.bytes, where, model);
    if (field.id == 3) read_normalizer(field.bytes, where, model);
    if (field.id != 5) continue;
    SentencePieceModel denormalizer;
    read_normalizer(field.bytes, where, denormalizer);
    model.denormalizes = !denormalizer.charsmap.empty();
  }
  return model;
}

void check_rules(const SentencePieceModel& model, const std::string& where) {
  const auto refuse = [&](const std::string& what) { throw Error(where + ": " + what + ", which heed does not have. Use a model that was trained without it"); };
  if (model.kind != 1 && model.kind != 2) refuse(model.kind == 3 ? "a model of whole words" : "a model of single characters");
  if (model.space_behind) refuse("spaces behind words (treat_whitespace_as_suffix)");
  if (!model.escape_spaces) refuse("spaces that stay spaces (escape_whitespaces false)");
  if (model.denormalizes) refuse("a denormalizer");
  if (model.pieces.empty()) throw Error(where + ": the vocabulary is empty");
  for (const SentencePiece& piece : model.pieces) {
    if (piece.type == kUserDefined) refuse("the user-defined piece '" + piece.text + "'");
    if (piece.type == kUnused && model.kind == 2) refuse("the unused piece '" + piece.text + "' of a byte-pair model");
    if (piece.type < kNormal || piece.type > kByte) throw Error(where + ": piece '" + piece.text + "' has the unknown type " + std::to_string(piece.type));
    if (!std::isfinite(piece.score)) throw Error(where + ": piece '" + piece.text + "' has a score that is not a number");
  }
}

// The rules, which do not depend on ids.
SubwordSpec spec_of(const SentencePieceModel& model, const std::string& where) {
  SubwordSpec spec;
  spec.where = where;
  spec.kind = model.kind == 1 ? schema::TokenizerKind::unigram : schema::TokenizerKind::bpe;
  spec.prefix_space = model.dummy_prefix ? schema::PrefixSpace::always : schema::PrefixSpace::none;
  spec.collapse_spaces = model.remove_extra_spaces;
  spec.trim_end = model.remove_extra_spaces ? schema::TrimKind::spaces : schema::TrimKind::none;
  spec.whole_text = spec.join_unknown = true;
  spec.charsmap = model.charsmap;
  return spec;
}

void add_special(SubwordSpec& spec, const std::string& text, uint32_t id) {
  schema::AddedTokenT token;
  token.text = text;
  token.id = id;
  token.special = true;
  spec.added.push_back(token);
}

// Pieces with the ids that the model gives them.
void take_pieces(const SentencePieceModel& model, SubwordSpec& spec) {
  std::vector<uint32_t> bytes(256, kNoPiece);
  std::vector<bool> normal;
  bool any_byte = false;
  for (uint32_t id = 0; id < model.pieces.size(); ++id) {
    const SentencePiece& piece = model.pieces[id];
    spec.pieces.push_back(piece.text);
    spec.scores.push_back(piece.score);
    normal.push_back(piece.type == kNormal);
    if (piece.type == kUnknown) spec.unknown = id;
    if (piece.type == kControl) add_special(spec, piece.text, id);
    if (piece.type != kNormal) spec.not_in_text.push_back(id);
    if (piece.type != kByte) continue;
    any_byte = true;
    const int32_t byte = byte_of_piece(piece.text, spec.where);
    if (byte < 0) throw Error(spec.where + ": piece '" + piece.text + "' is said to be a byte; bytes are <0x00> to <0xFF>, with two digits");
    add_byte_piece(bytes, byte, id, spec.where);
  }
  if (any_byte) {
    check_byte_pieces(bytes, spec.where);
    spec.byte_pieces = bytes;
  }
  if (!spec.unknown) throw Error(spec.where + ": no piece is the unknown one");
  if (spec.kind == schema::TokenizerKind::bpe) spec.merges = merges_by_score(spec.pieces, spec.scores, normal);
}

uint32_t id_of(const SubwordSpec& spec, const std::string& piece) {
  const auto found = std::find(spec.pieces.begin(), spec.pieces.end(), piece);
  if (found == spec.pieces.end()) throw Error(spec.where + ": the vocabulary has no '" + piece + "'");
  return static_cast<uint32_t>(found - spec.pieces.begin());
}

constexpr uint32_t kExtraIds = 100;  // of T5

}  // namespace

SubwordSpec read_sentencepiece(const fs::path& file, const std::string& model_type) {
  const SentencePieceModel model = read_model(file);
  check_rules(model, file.string());
  SubwordSpec spec = spec_of(model, file.string());
  take_pieces(model, spec);
  uint32_t extra = kExtraIds;
  if (auto config = read_tokenizer_config(file.parent_path())) {
    config->only("truncation_side", {"right"});
    extra = config->size("extra_ids", kExtraIds);
    if (extra > 100000) throw Error(config->where() + ": \"extra_ids\" is " + std::to_string(extra) + ", more than a vocabulary has room for");
  }
  if (model_type == "t5" || model_type == "mt5") {
    for (uint32_t i = extra; i-- > 0;) {
      const std::string piece = "<extra_id_" + std::to_string(i) + ">";
      add_special(spec, piece, static_cast<uint32_t>(spec.pieces.size()));
      spec.not_in_text.push_back(static_cast<uint32_t>(spec.pieces.size()));
      spec.pieces.push_back(piece);
      spec.scores.push_back(0);
    }
    spec.suffix = {id_of(spec, "</s>")};
    return spec;
  }
  if (model_type == "graph") return spec;
  throw Error(spec.where + ": heed does not know which special tokens the family '" + model_type + "' puts around a text. Save the checkpoint with tokenizer.json");
}

SubwordSpec read_marian(const fs::path& folder, const std::string& name) {
  const fs::path file = folder / name;
  const SentencePieceModel model = read_model(file);
  check_rules(model, file.string());
  SubwordSpec spec = spec_of(model, file.string());
  if (spec.kind != schema::TokenizerKind::unigram) throw Error(spec.where + ": a byte-pair model with ids from vocab.json, which heed does not have");
  const bool own = name == "target.spm" && fs::exists(folder / "target_vocab.json");
  const fs::path vocabulary = folder / (own ? "target_vocab.json" : "vocab.json");
  const Json json = read_json(vocabulary);
  spec.pieces = pieces_by_id(&json, vocabulary.string());
  spec.scores.assign(spec.pieces.size(), 0);
  spec.listed.assign(spec.pieces.size(), false);
  const std::map<std::string, uint32_t> ids = ids_of(spec.pieces);
  for (const SentencePiece& piece : model.pieces) {
    if (piece.type == kByte) throw Error(spec.where + ": pieces for single bytes with ids from vocab.json, which heed does not have");
    if (piece.type != kNormal) continue;
    const auto found = ids.find(piece.text);
    if (found == ids.end()) {
      spec.unlisted.emplace_back(piece.text, piece.score);
    } else {
      spec.scores[found->second] = piece.score;
      spec.listed[found->second] = true;
    }
  }
  spec.unknown = id_of(spec, "<unk>");
  for (const char* special : {"</s>", "<pad>"}) add_special(spec, special, id_of(spec, special));
  for (const auto& [piece, id] : ids) {  // a language that is asked for, ">>fra<<"
    if (piece.size() < 5 || piece.compare(0, 2, ">>") != 0 || piece.compare(piece.size() - 2, 2, "<<") != 0) continue;
    schema::AddedTokenT token;
    token.text = piece;
    token.id = id;
    spec.added.push_back(token);
  }
  spec.suffix = {id_of(spec, "</s>")};
  if (name == "target.spm") spec.prefix = {id_of(spec, "<pad>")};
  return spec;
}

}  // namespace heed::tools
