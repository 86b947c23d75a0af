// Lengths here count the start token, as Hugging Face does; heed's count what comes behind it.
// SPDX-License-Identifier: Apache-2.0
#include "convert/front_ends/generation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "error.h"

namespace heed::tools {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// What heed/generate.h says a search takes.
constexpr uint32_t kMostBeams = 1024, kMostTokens = 1u << 20;
constexpr double kMostPenalty = 4;

// Keys that say how much is returned, or matter only where tokens are drawn at random, which is refused.
void ignore_neutral(Config& config) {
  config.ignore({"assistant_confidence_threshold", "assistant_early_exit", "assistant_lookbehind", "cache_config", "cache_implementation",
                 "compile_config", "disable_compile", "epsilon_cutoff", "eta_cutoff", "is_assistant", "low_memory", "max_matching_ngram_size",
                 "min_p", "num_assistant_tokens", "num_assistant_tokens_schedule", "output_attentions",
                 "output_hidden_states", "output_logits", "output_scores", "pad_token_id", "prefill_chunk_size", "prompt_lookup_num_tokens",
                 "remove_invalid_values", "return_dict_in_generate", "return_legacy_cache", "target_lookbehind", "temperature", "top_k",
                 "top_p", "transformers_version", "typical_p", "use_cache", "_from_model_config"});
}

// What would change an output and heed's search does not do: only values that do nothing.
void refuse_unsupported(Config& config) {
  config.only("do_sample", {false});
  config.only("num_beam_groups", {1});
  config.only("diversity_penalty", {0});
  config.only("repetition_penalty", {1});
  config.only("encoder_repetition_penalty", {1});
  config.only("encoder_no_repeat_ngram_size", {0});
  config.only("renormalize_logits", {false});
  config.only("begin_suppress_tokens", {Json::array()});
  config.only("exponential_decay_length_penalty", {});
  config.only("penalty_alpha", {});
  config.only("dola_layers", {});
  config.only("force_words_ids", {});
  config.only("constraints", {});
  config.only("forced_decoder_ids", {});
  config.only("sequence_bias", {});
  config.only("guidance_scale", {1});
  config.only("watermarking_config", {});
  config.only("stop_strings", {});
  config.only("token_healing", {false});
}

uint32_t token(Config& config, const std::string& key) { return config.size(key, kNone); }

// eos_token_id may be a list; a search has one token that stops it.
uint32_t stop_token(Config& config) {
  const std::string key = "eos_token_id";
  const Json* value = config.find(key);
  if (!value || !value->is_array()) return token(config, key);
  if (value->size() != 1 || !value->at(0).is_number_unsigned()) {
    throw Error(config.where() + ": \"" + key + "\" is " + shown(*value) + "; heed stops at one token");
  }
  return value->at(0).get<uint32_t>();
}

schema::EarlyStopping early_stopping(Config& config) {
  const Json* value = config.find("early_stopping");
  if (!value || *value == false) return schema::EarlyStopping::off;
  if (*value == true) return schema::EarlyStopping::on;
  if (*value == "never") return schema::EarlyStopping::never;
  throw Error(config.where() + ": \"early_stopping\" is " + shown(*value) + "; heed has true, false and \"never\"");
}

// What transformers takes where config.json does not mention these tokens (null does).
struct Defaults {
  const char* family;
  uint32_t start, stop, forced_last;
};
constexpr Defaults kDefaults[] = {{"marian", kNone, 0, 0}, {"bart", 2, 2, 2}, {"t5", kNone, 1, kNone}};

void take_defaults(const Config& config, const std::string& family, schema::GenerationT& out) {
  for (const Defaults& one : kDefaults) {
    if (family != one.family) continue;
    if (!config.mentions("decoder_start_token_id") && one.start != kNone) out.start_token = one.start;
    if (!config.mentions("eos_token_id")) out.stop_token = one.stop;
    if (!config.mentions("forced_eos_token_id")) out.forced_last = one.forced_last;
  }
}

uint32_t behind_start(uint32_t length) { return length > 0 ? length - 1 : 0; }

// `key` is a number from `least` to `most`, or not there.
void check_range(Config& config, const char* key, const Json& least, const Json& most) {
  const Json* value = config.find(key);
  if (!value || !value->is_number()) return;
  const double number = value->get<double>();
  if (number >= least.get<double>() && number <= most.get<double>()) return;
  throw Error(config.where() + ": \"" + key + "\" is " + shown(*value) + "; heed takes " + shown(least) + " to " + shown(most));
}

void check_ranges(Config& config) {
  check_range(config, "max_new_tokens", 1, kMostTokens);
  check_range(config, "max_length", 0, kMostTokens);
  check_range(config, "min_new_tokens", 0, kMostTokens);
  check_range(config, "min_length", 0, kMostTokens);
  check_range(config, "num_beams", 1, kMostBeams);
  check_range(config, "length_penalty", -kMostPenalty, kMostPenalty);
}

void read_lengths(Config& config, schema::GenerationT& out) {
  out.max_tokens = config.size("max_new_tokens", 0);
  const uint32_t length = config.size("max_length", 0);
  if (length == 1) throw Error(config.where() + ": \"max_length\" is 1: the start token alone");
  if (out.max_tokens == 0) out.max_tokens = behind_start(length);
  out.min_tokens = std::max(behind_start(config.size("min_length", 0)), config.size("min_new_tokens", 0));
  if (out.max_tokens > 0 && out.min_tokens > out.max_tokens) {
    throw Error(config.where() + ": asks for outputs of at least " + std::to_string(out.min_tokens) + " tokens and of at most " + std::to_string(out.max_tokens));
  }
}

// Single tokens of bad_words_ids, and suppress_tokens.
std::vector<uint32_t> suppressed(Config& config) {
  std::vector<uint32_t> tokens;
  const auto take = [&](const std::string& key, const Json& list, const Json& one) {
    if (!one.is_number_unsigned()) throw Error(config.where() + ": \"" + key + "\" is " + shown(list) + "; heed keeps single tokens out of an output");
    tokens.push_back(one.get<uint32_t>());
  };
  if (const Json* banned = config.find("bad_words_ids")) {
    for (const Json& word : *banned) take("bad_words_ids", *banned, word.is_array() && word.size() == 1 ? word[0] : word);
  }
  if (const Json* list = config.find("suppress_tokens")) {
    for (const Json& one : *list) take("suppress_tokens", *list, one);
  }
  return tokens;
}

void check_token(const Config& config, const char* key, uint32_t token, uint32_t vocabulary) {
  if (token == kNone || token < vocabulary) return;
  throw Error(config.where() + ": \"" + key + "\" is " + std::to_string(token) + ", the vocabulary has " + std::to_string(vocabulary) + " tokens");
}

// Keys that do not change the best output, but what a caller of transformers gets.
void note_left_out(Config& config, std::vector<std::string>& notes) {
  const std::pair<const char*, Json> keys[] = {{"num_return_sequences", 1}, {"max_time", nullptr}};
  for (const auto& [key, neutral] : keys) {
    const Json* value = config.find(key);
    if (value && *value != neutral) notes.push_back(config.where() + ": \"" + key + "\" is " + shown(*value) + ", which heed leaves out: it gives the best output, however long that takes");
  }
}

void check_some_left(const Config& config, const std::vector<uint32_t>& suppressed, uint32_t vocabulary) {
  if (std::set<uint32_t>(suppressed.begin(), suppressed.end()).size() < vocabulary) return;
  throw Error(config.where() + ": \"suppress_tokens\" and \"bad_words_ids\" keep all " + std::to_string(vocabulary) + " tokens out of an output; none is left");
}

void read_search(Config& config, const EncoderDecoder& built, Spec& spec) {
  schema::GenerationT& out = *spec.model.generation;
  ignore_neutral(config);
  note_left_out(config, spec.notes);
  refuse_unsupported(config);
  check_ranges(config);
  out.suppressed = suppressed(config);
  read_lengths(config, out);
  out.beams = config.size("num_beams", 1);
  out.length_penalty = static_cast<float>(config.number("length_penalty", 1));
  out.no_repeat = config.size("no_repeat_ngram_size", 0);
  out.early_stopping = early_stopping(config);
  out.stop_token = stop_token(config);
  out.forced_first = token(config, "forced_bos_token_id");
  out.forced_last = token(config, "forced_eos_token_id");
  const uint32_t begin = token(config, "bos_token_id");
  out.start_token = config.size("decoder_start_token_id", begin);
  if (out.start_token == kNone) {
    throw Error(config.where() + ": has neither \"decoder_start_token_id\" nor \"bos_token_id\"; a decoder needs a token to start from");
  }
  check_token(config, "decoder_start_token_id", out.start_token, built.target_vocabulary);
  check_token(config, "eos_token_id", out.stop_token, built.target_vocabulary);
  check_token(config, "forced_bos_token_id", out.forced_first, built.target_vocabulary);
  check_token(config, "forced_eos_token_id", out.forced_last, built.target_vocabulary);
  for (const uint32_t token : out.suppressed) check_token(config, "bad_words_ids or suppress_tokens", token, built.target_vocabulary);
  check_some_left(config, out.suppressed, built.target_vocabulary);
  if (built.most_tokens > 0 && out.max_tokens > built.most_tokens) {
    spec.notes.push_back(config.where() + ": outputs of " + std::to_string(out.max_tokens) + " tokens asked for; the positions hold " + std::to_string(built.most_tokens));
    out.max_tokens = built.most_tokens;
  }
}

}  // namespace

void read_generation(const std::filesystem::path& folder, Config& config, const Json& last_word, const EncoderDecoder& built, Spec& spec) {
  spec.model.generation = std::make_unique<schema::GenerationT>();
  schema::GenerationT& out = *spec.model.generation;
  const std::filesystem::path file = folder / "generation_config.json";
  if (std::filesystem::exists(file)) {
    Config generation(read_json(file), file.string());
    generation.update(last_word);
    read_search(generation, built, spec);
    generation.finish();
    config.ignore_like(generation);
  } else {
    config.update(last_word);
    read_search(config, built, spec);
    take_defaults(config, spec.model.metadata->family, out);
  }
  uint32_t& context = spec.model.metadata->max_context;
  if (built.most_tokens == 0) context = std::max(context, out.max_tokens);
}

}  // namespace heed::tools
