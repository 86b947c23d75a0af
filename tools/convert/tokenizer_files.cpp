// tokenizer.json, and vocab.txt with tokenizer_config.json.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer_files.h"

#include <algorithm>
#include <optional>

#include "convert/json.h"
#include "error.h"
#include "files.h"
#include "text/vocabulary.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

// Part of a file, with a name for messages.
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

// ---- tokenizer.json ----

void read_normalizer(Config config, NormalizerOptions& options) {
  config.only("type", {"BertNormalizer"});
  if (!config.has("type")) throw Error(config.where() + ": \"type\" is missing");
  options.clean_text = config.flag("clean_text", true);
  options.handle_chinese_chars = config.flag("handle_chinese_chars", true);
  options.lowercase = config.flag("lowercase", true);
  options.strip_accents = config.flag("strip_accents", options.lowercase);
  config.finish();
}

void read_model(Config config, WordPieceSpec& spec) {
  config.only("type", {"WordPiece"});  // old files do not say it
  spec.unknown = config.text("unk_token", spec.unknown);
  spec.continuing_prefix = config.text("continuing_subword_prefix", spec.continuing_prefix);
  spec.max_word_chars = config.size("max_input_chars_per_word", spec.max_word_chars);
  const Json* vocabulary = config.find("vocab");
  if (!vocabulary || !vocabulary->is_object()) {
    throw Error(config.where() + ": \"vocab\" is not a list of pieces with their ids");
  }
  config.finish();
  if (vocabulary->size() > kMaxVocabulary) throw Error(config.where() + ": more pieces than a model file can have");
  std::vector<bool> seen(vocabulary->size());
  spec.pieces.resize(vocabulary->size());
  for (const auto& [piece, id] : vocabulary->items()) {
    const bool in_range = id.is_number_unsigned() && id.get<uint64_t>() < seen.size();
    if (!in_range || seen[id.get<size_t>()]) {
      throw Error(config.where() + ": piece " + shown(piece) + " has id " + shown(id) + "; the ids of " +
                  std::to_string(seen.size()) + " pieces must be 0 to " + std::to_string(seen.size() - 1) +
                  ", each once");
    }
    seen[id.get<size_t>()] = true;
    spec.pieces[id.get<size_t>()] = piece;
  }
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

// An added token may be a piece already, or come after the last one.
void add_token(schema::AddedTokenT token, WordPieceSpec& spec) {
  if (token.id == spec.pieces.size()) spec.pieces.push_back(token.text);
  if (token.id > spec.pieces.size() || spec.pieces[token.id] != token.text) {
    throw Error(spec.where + ": added token '" + token.text + "' has id " + std::to_string(token.id) +
                ", which is not its place in the vocabulary of " + std::to_string(spec.pieces.size()) + " pieces");
  }
  spec.added.push_back(std::move(token));
}

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
void read_template(Config config, WordPieceSpec& spec) {
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

void read_post_processor(Config config, WordPieceSpec& spec) {
  const std::string type = config.text("type", "");
  if (type == "TemplateProcessing") return read_template(std::move(config), spec);
  config.only("type", {"TemplateProcessing", "BertProcessing", "RobertaProcessing"});
  config.ignore({"trim_offsets", "add_prefix_space"});  // of the latter: they do not change ids
  spec.prefix = {pair_id(config, "cls")};
  spec.suffix = {pair_id(config, "sep")};
  config.finish();
}

// ---- tokenizer_config.json ----

std::optional<Config> read_tokenizer_config(const fs::path& folder) {
  const fs::path path = folder / "tokenizer_config.json";
  if (!fs::exists(path)) return std::nullopt;
  return Config(read_json(path), path.string());
}

// A special token is written as its text, or as an object with its flags.
std::string token_text(Config& config, const std::string& key, const std::string& otherwise) {
  const Json* value = config.find(key);
  return value && value->is_object() ? read_added_token(Config(*value, config.where() + ", " + key)).text
                                     : config.text(key, otherwise);
}

void read_bert_options(Config& config, NormalizerOptions& options) {
  const bool says_case = config.has("do_lower_case");
  options.lowercase = config.flag("do_lower_case", options.lowercase);
  options.handle_chinese_chars = config.flag("tokenize_chinese_chars", options.handle_chinese_chars);
  if (says_case || config.has("strip_accents")) options.strip_accents = config.flag("strip_accents", options.lowercase);
}

// Those that every BERT-like tokenizer_config.json may have and that do not change the ids of a text.
void ignore_tokenizer_keys(Config& config) {
  config.ignore({"name_or_path", "special_tokens_map_file", "tokenizer_file", "full_tokenizer_file", "vocab_file",
                 "model_max_length", "max_len", "max_length", "stride", "truncation_strategy", "model_input_names",
                 "clean_up_tokenization_spaces", "padding_side", "pad_to_multiple_of", "pad_token_type_id",
                 "processor_class", "init_inputs", "backend", "is_local", "auto_map", "mask_token", "pad_token",
                 "bos_token", "eos_token"});
}

bool is_bert_like(const std::string& name) {
  for (const char* known : {"Bert", "DistilBert", "Electra", "MobileBert"}) {
    for (const char* ending : {"Tokenizer", "TokenizerFast"}) {
      if (name == std::string(known) + ending) return true;
    }
  }
  return false;
}

// ---- vocab.txt ----

uint32_t id_of(const WordPieceSpec& spec, const std::string& piece) {
  const auto found = std::find(spec.pieces.rbegin(), spec.pieces.rend(), piece);
  if (found == spec.pieces.rend()) throw Error(spec.where + ": the vocabulary has no '" + piece + "'");
  return static_cast<uint32_t>(spec.pieces.rend() - found - 1);
}

// "added_tokens_decoder": the added tokens, by id.
void read_added_decoder(Config& config, WordPieceSpec& spec) {
  const Json* decoder = config.find("added_tokens_decoder");
  if (!decoder) return;
  Config tokens(*decoder, config.where() + ", added_tokens_decoder");
  std::vector<schema::AddedTokenT> added;
  for (const auto& [id, value] : decoder->items()) {
    const bool digits = !id.empty() && id.size() < 9 && id.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) throw Error(tokens.where() + ": " + shown(id) + " is not an id");
    added.push_back(read_added_token(part(tokens, id)));
    added.back().id = static_cast<uint32_t>(std::stoul(id));
  }
  std::sort(added.begin(), added.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  for (schema::AddedTokenT& token : added) add_token(std::move(token), spec);
}

}  // namespace

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

WordPieceSpec read_tokenizer_json(const fs::path& folder) {
  const fs::path path = folder / "tokenizer.json";
  Config config(read_json(path), path.string());
  WordPieceSpec spec;
  spec.where = path.string();
  read_model(part(config, "model"), spec);
  read_normalizer(part(config, "normalizer"), spec.normalizer);
  Config splitter = part(config, "pre_tokenizer");
  splitter.only("type", {"BertPreTokenizer"});
  splitter.finish();
  if (config.has("post_processor")) read_post_processor(part(config, "post_processor"), spec);
  if (config.has("added_tokens")) {
    for (const Json& token : list(config, "added_tokens")) {
      add_token(read_added_token(Config(token, config.where() + ", added_tokens")), spec);
    }
  }
  // The length comes from other files (the front end knows which), and heed pads nothing.
  config.ignore({"version", "truncation", "padding", "decoder", "post_processor", "added_tokens"});
  config.finish();
  if (auto beside = read_tokenizer_config(folder)) {
    if (is_bert_like(beside->text("tokenizer_class", ""))) read_bert_options(*beside, spec.normalizer);
    beside->only("truncation_side", {"right"});
  }
  return spec;
}

WordPieceSpec read_vocabulary_text(const fs::path& folder, const std::string& model_type) {
  WordPieceSpec spec;
  spec.where = (folder / "vocab.txt").string();
  spec.pieces = read_lines(folder / "vocab.txt");
  Config config = read_tokenizer_config(folder).value_or(Config(Json::object(), spec.where));
  const bool known_type =
      model_type == "bert" || model_type == "distilbert" || model_type == "electra" || model_type == "mobilebert";
  const std::string tokenizer = config.text("tokenizer_class", known_type ? "BertTokenizer" : model_type);
  if (!is_bert_like(tokenizer)) {
    throw Error(config.where() + ": tokenizer '" + tokenizer + "' is not one that heed can read from vocab.txt. " +
                "Save the checkpoint with tokenizer.json");
  }
  if (fs::exists(folder / "added_tokens.json")) {
    throw Error((folder / "added_tokens.json").string() +
                ": heed reads added tokens from tokenizer.json only. Save the checkpoint with it");
  }
  read_bert_options(config, spec.normalizer);
  spec.unknown = token_text(config, "unk_token", "[UNK]");
  spec.prefix = {id_of(spec, token_text(config, "cls_token", "[CLS]"))};
  spec.suffix = {id_of(spec, token_text(config, "sep_token", "[SEP]"))};
  read_added_decoder(config, spec);
  config.only("do_basic_tokenize", {true});
  config.only("never_split", {Json::array()});
  config.only("truncation_side", {"right"});
  config.only("additional_special_tokens", {Json::array()});
  config.only("extra_special_tokens", {Json::array(), Json::object()});
  ignore_tokenizer_keys(config);
  config.finish();
  return spec;
}

}  // namespace heed::tools
