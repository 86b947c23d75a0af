// tokenizer.json, and vocab.txt with tokenizer_config.json.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer_files.h"

#include <algorithm>
#include <optional>

#include "convert/json.h"
#include "convert/tokenizer_parts.h"
#include "error.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

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
  config.finish();
  spec.pieces = pieces_by_id(vocabulary, config.where());
}

// ---- tokenizer_config.json ----

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
  read_added_tokens(config, spec);
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
