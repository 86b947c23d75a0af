// SPDX-License-Identifier: Apache-2.0
#include "cli/translate.h"

#include <algorithm>
#include <span>

#include "attention/collect.h"
#include "attention/tapped.h"
#include "cli/digest.h"
#include "cli/flags.h"
#include "cli/print.h"
#include "cli/sequences.h"
#include "cli/translate_sources.h"
#include "error.h"
#include "text/tokenizer.h"

namespace heed::tools {
namespace {

// The nodes of `decode` that look at the input.
std::vector<uint32_t> looking_nodes(const Model& model) {
  std::vector<uint32_t> places;
  const auto& nodes = *graph_named(model, "decode").nodes();
  for (uint32_t place = 0; place < nodes.size(); ++place) {
    const schema::Node& node = *nodes.Get(place);
    const bool looks = node.op() == schema::OpKind::Attention && node.state() >= 0 &&
                       model.tables().states()->Get(static_cast<uint32_t>(node.state()))->kind() == schema::StateKind::kv_fixed;
    if (looks) places.push_back(place);
  }
  return places;
}

// The input token that an output token attends to most, over all heads of all layers together.
size_t most_attended(const Attention& attention, size_t output) {
  const size_t inputs = attention.columns.size();
  std::vector<float> sums(inputs);
  for (const AttentionLayer& layer : attention.layers) {
    for (size_t head = 0; head < layer.heads; ++head) {
      const float* row = layer.weights.data() + (head * attention.rows.size() + output) * inputs;
      for (size_t input = 0; input < inputs; ++input) sums[input] += row[input];
    }
  }
  return static_cast<size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

// What the tokens of an output stand for; ids without a vocabulary.
std::vector<std::string> target_labels(const Model& model, const std::vector<uint32_t>& tokens) {
  const schema::Tokenizer* table = tokenizer_of(model.handle(), HEED_TARGET);
  std::vector<std::string> labels;
  for (const uint32_t token : tokens) {
    uint32_t bytes = 0;
    const char* piece = table ? token_piece(*table, token, &bytes) : nullptr;
    labels.push_back(piece ? printable({piece, bytes}) : std::to_string(token));
  }
  return labels;
}

// Ids as --tokens takes them, in place of a text.
std::string ids_text(const std::vector<uint32_t>& ids) {
  std::string text;
  for (const uint32_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

struct Translation : Found {
  std::vector<std::string> copies;  // for each token the input's word that stands for it, empty where none does
  std::string text;
};

// Tables of embeddings may be longer than the vocabulary.
[[noreturn]] void refuse_without_piece(const Model& model, const std::vector<uint32_t>& tokens) {
  const uint32_t pieces = tokenizer_of(model.handle(), HEED_TARGET)->vocabulary();
  const uint32_t token = *std::find_if(tokens.begin(), tokens.end(), [&](uint32_t one) { return one >= pieces; });
  throw Error(model.path() + ": the output has the token " + std::to_string(token) + ", and the vocabulary has " + std::to_string(pieces) + " pieces");
}

// What each token of an output looked at in the input.
Attention look(const Model& model, Translator& translator, const Source& source, const std::vector<uint32_t>& tokens) {
  Tapped tapped;
  translator.retrace(source.ids, tokens, {Tapped::take, &tapped});
  Attention attention = describe_translation(model);
  attention.rows = target_labels(model, tokens);
  attention.columns = labels_of_ids(model, source.ids);
  for (size_t i = 0; i < source.words.size(); ++i) {
    if (!source.words[i].empty()) attention.columns[i] = printable(source.words[i]);
  }
  tapped.fill(looking_nodes(model), &attention);
  return attention;
}

// For each unknown output token the input word that it attends to most.
std::vector<std::string> copied(const Model& model, Translator& translator, const std::vector<uint32_t>& tokens, const Source& source) {
  const uint32_t unknown = heed_unknown_token(&model.handle(), HEED_TARGET);
  std::vector<std::string> copies(tokens.size());
  if (std::find(tokens.begin(), tokens.end(), unknown) == tokens.end()) return copies;
  const Attention attention = look(model, translator, source, tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == unknown) copies[i] = source.words[most_attended(attention, i)];
  }
  return copies;
}

std::string join(const Model& model, const std::vector<uint32_t>& tokens, const std::vector<std::string>& copies) {
  std::vector<heed_span> spans;
  for (const std::string& word : copies) spans.push_back({word.empty() ? nullptr : word.data(), static_cast<uint32_t>(word.size())});
  const heed_ids ids{tokens.data(), static_cast<uint32_t>(tokens.size()), spans.empty() ? nullptr : spans.data()};
  uint64_t bytes = 0;
  const heed_status status = heed_detokenize(&model.handle(), &ids, nullptr, 0, &bytes);
  if (status == HEED_NO_TOKENIZER) return ids_text(tokens);
  if (status == HEED_BAD_INPUT) refuse_without_piece(model, tokens);
  if (bytes == 0) return "";
  std::string text(bytes, ' ');
  check(heed_detokenize(&model.handle(), &ids, text.data(), bytes, &bytes), empty_diagnostic(), model.path(), &model.handle());
  return text;
}

Translation translate_one(const Model& model, Translator& translator, const Source& source, bool copies) {
  Translation result{translator.search(source.ids), {}, ""};
  if (copies) result.copies = copied(model, translator, result.tokens, source);
  result.text = join(model, result.tokens, result.copies);
  return result;
}

}  // namespace

void check_max_tokens(const Model& model, uint32_t tokens, const char* flag) {
  for (uint32_t i = 0; model.tables().states() && i < model.tables().states()->size(); ++i) {
    const schema::State& state = *model.tables().states()->Get(i);
    if (state.kind() != schema::StateKind::kv_append || state.rows() == 0 || tokens <= state.rows()) continue;
    throw Error(std::string(flag) + " " + std::to_string(tokens) + ": " + model.path() + " keeps at most " + std::to_string(state.rows()) + " tokens of an output");
  }
}

namespace {

heed_generate_options options_of(const Model& model, const TranslateFlags& flags) {
  heed_generate_options options;
  heed_default_generate_options(&model.handle(), &options);
  options.beams = flags.beams.value_or(options.beams);
  options.max_tokens = flags.max_tokens.value_or(options.max_tokens);
  check_max_tokens(model, options.max_tokens, "--max-tokens");
  options.min_tokens = flags.min_tokens.value_or(std::min(options.min_tokens, options.max_tokens));
  if (options.min_tokens > options.max_tokens) {
    throw UsageError("--min-tokens " + std::to_string(options.min_tokens) + ": an output has at most " + std::to_string(options.max_tokens) + " tokens" +
                     (flags.max_tokens ? ", as --max-tokens says" : ""));
  }
  options.no_repeat = flags.no_repeat.value_or(options.no_repeat);
  if (flags.length_penalty) options.length_penalty = static_cast<float>(*flags.length_penalty);
  return options;
}

std::string digest_of(const std::vector<Translation>& translations) {
  Digest digest;
  for (const Translation& one : translations) {
    digest.add(std::span<const uint32_t>(one.tokens));
    digest.add(std::span<const float>(one.log_probabilities));
    digest.add(std::span<const float>(&one.score, 1));
  }
  return digest.text();
}

Json json_of(const Translation& translation) {
  Json log_probabilities = Json::array();
  for (const float value : translation.log_probabilities) log_probabilities.push_back(json_number(value));
  return {{"text", translation.text}, {"tokens", translation.tokens}, {"log_probabilities", std::move(log_probabilities)},
          {"score", json_number(translation.score)}, {"stopped", translation.stopped}};
}

}  // namespace

void add_translate_flags(CLI::App& command, TranslateFlags& flags) {
  command.add_option("--beams", flags.beams, "Of a translator: hypotheses searched at the same time (default: what the model says, or 1)")
      ->check(whole_number(1, 1024))->type_name("N");
  command.add_option("--max-tokens", flags.max_tokens, "Of a translator: most tokens of an output (default: what the model says, or its states hold)")
      ->check(whole_number(1, 1u << 20))->type_name("N");
  command.add_option("--min-tokens", flags.min_tokens, "Of a translator: an output does not end before so many tokens (default: what the model says, or 0)")
      ->check(whole_number(0, 1u << 20))->type_name("N");
  command.add_option("--no-repeat", flags.no_repeat, "Of a translator: no sequence of so many tokens comes twice; 0: any may (default: what the model says, or 0)")
      ->check(whole_number(0, 1u << 20))->type_name("N");
  command.add_option("--length-penalty", flags.length_penalty, "Of a translator: hypotheses are compared by score / tokens^A (default: what the model says, or 0)")
      ->check(CLI::Range(-4.0, 4.0))->check([](const std::string& text) { return text.find_first_of("nN") == std::string::npos ? "" : text + " is not a number"; })
      ->type_name("A");
  command.add_option("--unknown", flags.unknown, "Of a translator: what becomes of text that its vocabulary does not have: error refuses it, copy puts it into the output, "
                     "unk reads the unknown token (default: error of words, unk of subwords)")
      ->check(CLI::IsMember({"error", "copy", "unk"}))->type_name("error|copy|unk");
}

void refuse_translate_flags(const Model& model, const TranslateFlags& flags) {
  const std::pair<const char*, bool> given[] = {{"--beams", flags.beams.has_value()}, {"--max-tokens", flags.max_tokens.has_value()},
                                                {"--min-tokens", flags.min_tokens.has_value()}, {"--no-repeat", flags.no_repeat.has_value()},
                                                {"--length-penalty", flags.length_penalty.has_value()}, {"--unknown", !flags.unknown.empty()}};
  for (const auto& [name, is_given] : given) {
    if (is_given) throw Error(model.path() + ": " + name + " is of use only for a model with the graphs encode and decode, which this one does not have");
  }
}

namespace {

Translator translator_for(const Model& model, const std::vector<Source>& sources, const TranslateFlags& flags, const SessionFlags& session) {
  size_t longest = 0;
  for (const Source& source : sources) longest = std::max(longest, source.ids.size());
  if (session.rows && longest > session.rows) {
    throw Error(model.path() + ": a text has " + std::to_string(longest) + " tokens, --rows allows " + std::to_string(session.rows));
  }
  return Translator(model, session, options_of(model, flags), session.rows ? session.rows : static_cast<uint32_t>(longest));
}

}  // namespace

void translate(const Model& model, const TranslateWork& work, const TranslateFlags& flags, const SessionFlags& session, TranslatePrint print_as) {
  const std::vector<Source> sources = gather_sources(model, work, flags);
  Translator translator = translator_for(model, sources, flags, session);
  std::vector<Translation> translations;
  for (const Source& source : sources) translations.push_back(translate_one(model, translator, source, flags.copies_unknown()));

  if (print_as.json) {
    Json list = Json::array();
    for (const Translation& one : translations) list.push_back(json_of(one));
    return print_json({{"sequences", sources.size()}, {"isa", translator.session().isa()}, {"threads", session.threads},
                       {"arena_bytes", translator.session().arena_bytes()}, {"generator_bytes", translator.block_bytes()},
                       {"digest", digest_of(translations)}, {"translations", std::move(list)}});
  }
  for (const Translation& one : translations) print(printable(one.text) + "\n");
  if (print_as.digest) print(digest_of(translations) + "\n");
}

Attention describe_translation(const Model& model) {
  Attention attention;
  attention.model = model.path();
  attention.layers = layers_of(graph_named(model, "decode"), looking_nodes(model));
  if (attention.layers.empty()) throw Error(model.path() + ": graph \"decode\" has no attention to what \"encode\" made");
  return attention;
}

Attention translation_attention(const Model& model, const TranslateWork& work, const TranslateFlags& flags, const SessionFlags& session) {
  const std::vector<Source> sources = gather_sources(model, work, flags);
  if (sources.size() != 1) throw Error(model.path() + ": there are " + std::to_string(sources.size()) + " texts; attention is shown for one");
  Translator translator = translator_for(model, sources, flags, session);
  const Translation translation = translate_one(model, translator, sources[0], flags.copies_unknown());
  if (translation.tokens.empty()) throw Error(model.path() + ": the output has no tokens, so there is no attention to show");
  Attention attention = look(model, translator, sources[0], translation.tokens);
  for (size_t i = 0; i < translation.copies.size(); ++i) {
    if (!translation.copies[i].empty()) attention.rows[i] = printable(translation.copies[i]);
  }
  return attention;
}

}  // namespace heed::tools
