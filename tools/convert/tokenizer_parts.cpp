// Vocabularies, added tokens and what stands around a text, as tokenizer.json and its relatives write them.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer_parts.h"

#include "error.h"
#include "files.h"
#include "text/vocabulary.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

std::vector<uint32_t> template_ids(Config& special, const std::string& name) {
  Config token = part(special, name);
  token.ignore({"id", "tokens"});
  std::vector<uint32_t> ids;
  for (const Json& id : list(token, "ids")) {
    const bool fits = id.is_number_unsigned() && id.get<uint64_t>() <= kMaxVocabulary;
    if (!fits) throw Error(token.where() + ": " + shown(id) + " is not an id");
    ids.push_back(id.get<uint32_t>());
  }
  token.finish();
  return ids;
}

// [CLS] text [SEP]: what stands before and after one text.
void read_template(Config config, TokenizerSpec& spec) {
  Config special = part(config, "special_tokens");
  bool after = false;
  for (const Json& one : list(config, "single")) {
    Config step(one, config.where() + ", single");
    const bool is_text = step.has("Sequence");
    Config what = part(step, is_text ? "Sequence" : "SpecialToken");
    step.finish();
    what.only("type_id", {0});
    const std::string id = what.text("id", "");
    what.finish();
    if (is_text && (after || id != "A")) throw Error(config.where() + ": \"single\" must have the text A once");
    after = after || is_text;
    if (is_text) continue;
    std::vector<uint32_t>& side = after ? spec.suffix : spec.prefix;
    const std::vector<uint32_t> ids = template_ids(special, id);
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (!after) throw Error(config.where() + ": \"single\" does not have the text A");
  config.ignore({"type", "pair"});  // heed reads one text at a time
  config.finish();
}

uint32_t pair_id(Config& config, const std::string& key) {
  const Json& pair = list(config, key);
  const bool fits = pair.size() == 2 && pair[0].is_string() && pair[1].is_number_unsigned() &&
                    pair[1].get<uint64_t>() <= kMaxVocabulary;
  if (!fits) throw Error(config.where() + ": \"" + key + "\" is " + shown(pair) + ", not a piece and its id");
  return pair[1].get<uint32_t>();
}

}  // namespace

Config part(Config& whole, const std::string& key) {
  const Json* value = whole.find(key);
  if (!value) throw Error(whole.where() + ": \"" + key + "\" is missing");
  return Config(*value, whole.where() + ", " + key);
}

const Json& list(Config& whole, const std::string& key) {
  const Json* value = whole.find(key);
  if (!value || !value->is_array()) throw Error(whole.where() + ": \"" + key + "\" is not a list");
  return *value;
}

std::vector<std::string> pieces_by_id(const Json* vocabulary, const std::string& where) {
  if (!vocabulary || !vocabulary->is_object()) {
    throw Error(where + ": \"vocab\" is not a list of pieces with their ids");
  }
  if (vocabulary->size() > kMaxVocabulary) throw Error(where + ": more pieces than a model file can have");
  std::vector<bool> seen(vocabulary->size());
  std::vector<std::string> pieces(vocabulary->size());
  for (const auto& [piece, id] : vocabulary->items()) {
    const bool in_range = id.is_number_unsigned() && id.get<uint64_t>() < seen.size();
    if (!in_range || seen[id.get<size_t>()]) {
      throw Error(where + ": piece " + shown(piece) + " has id " + shown(id) + "; the ids of " +
                  std::to_string(seen.size()) + " pieces must be 0 to " + std::to_string(seen.size() - 1) +
                  ", each once");
    }
    seen[id.get<size_t>()] = true;
    pieces[id.get<size_t>()] = piece;
  }
  return pieces;
}

std::string in_quotes(const std::string& text) {
  constexpr size_t kMost = 80;
  return "'" + (text.size() > kMost ? text.substr(0, kMost) + "..." : text) + "'";
}

schema::AddedTokenT read_added_token(Config config) {
  schema::AddedTokenT token;
  token.text = config.text("content", "");
  token.lstrip = config.flag("lstrip", false);
  token.rstrip = config.flag("rstrip", false);
  token.single_word = config.flag("single_word", false);
  token.special = config.flag("special", false);
  token.normalized = config.flag("normalized", !token.special);
  if (config.has("id")) token.id = config.size("id");
  config.ignore({"__type"});
  config.finish();
  if (token.text.empty()) throw Error(config.where() + ": an added token without text");
  return token;
}

void add_token(schema::AddedTokenT token, TokenizerSpec& spec) {
  if (token.id == spec.pieces.size()) spec.pieces.push_back(token.text);
  if (token.id > spec.pieces.size() || spec.pieces[token.id] != token.text) {
    throw Error(spec.where + ": added token " + in_quotes(token.text) + " has id " + std::to_string(token.id) +
                ", which is not its place in the vocabulary of " + std::to_string(spec.pieces.size()) + " pieces");
  }
  spec.added.push_back(std::move(token));
}

void read_added_tokens(Config& whole, TokenizerSpec& spec) {
  if (!whole.has("added_tokens")) return;
  for (const Json& token : list(whole, "added_tokens")) add_token(read_added_token(Config(token, whole.where() + ", added_tokens")), spec);
}

void read_post_processor(Config config, TokenizerSpec& spec) {
  const std::string type = config.text("type", "");
  if (type == "TemplateProcessing") return read_template(std::move(config), spec);
  config.only("type", {"TemplateProcessing", "BertProcessing", "RobertaProcessing"});
  config.ignore({"trim_offsets", "add_prefix_space"});  // of the latter: they do not change ids
  spec.prefix = {pair_id(config, "cls")};
  spec.suffix = {pair_id(config, "sep")};
  config.finish();
}

std::optional<Config> read_tokenizer_config(const fs::path& folder) {
  const fs::path path = folder / "tokenizer_config.json";
  if (!fs::exists(path)) return std::nullopt;
  return Config(read_json(path), path.string());
}

std::string token_text(Config& config, const std::string& key, const std::string& otherwise) {
  const Json* value = config.find(key);
  return value && value->is_object() ? read_added_token(Config(*value, config.where() + ", " + key)).text
                                     : config.text(key, otherwise);
}

std::vector<std::string> read_lines(const fs::path& path) {
  const MappedFile file(path);
  std::vector<std::string> lines;
  std::string_view rest = file.text();
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace heed::tools
