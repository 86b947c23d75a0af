// SPDX-License-Identifier: Apache-2.0
#include "cli/translate_sources.h"

#include "cli/print.h"
#include "cli/sequences.h"
#include "error.h"

namespace heed::tools {
namespace {

// Without --unknown a missing word is an error, since its meaning would be lost; of subwords only rare characters are missing, which their
// models were trained to read as the unknown token.
bool refuses_unknown(const Model& model, const TranslateFlags& flags) {
  const schema::Tokenizer* table = model.tables().tokenizer();
  const bool words = table && table->kind() == schema::TokenizerKind::word;
  return flags.unknown == "error" || (flags.unknown.empty() && words);
}

// The places of the texts that the vocabulary does not have: the first, for a message, and how many there are.
struct UnknownPlaces {
  std::string first;
  size_t count = 0;
};

Source source_of_text(const Model& model, const std::string& prompt, const std::string& text, const std::string& where, UnknownPlaces* unknown) {
  const std::string whole = prompt + text;
  Source source;
  for (const heed_token& token : tokenize(model, whole)) {
    const std::string word = whole.substr(token.begin, token.end - token.begin);
    source.ids.push_back(static_cast<int32_t>(token.id));
    source.words.push_back(word);
    if (word.empty() || token.id != heed_unknown_token(&model.handle(), HEED_SOURCE) || unknown->count++ > 0) continue;
    const bool in_prompt = token.begin < prompt.size();
    unknown->first = model.path() + ": " + (in_prompt ? "the prompt" : where) + " has '" + shortened(word, 60) + "' at byte " +
                     std::to_string(token.begin - (in_prompt ? 0 : prompt.size())) + ", which is not in the vocabulary";
  }
  if (source.ids.empty()) throw Error(model.path() + ": " + where + " gives no tokens, so there is nothing to run on");
  return source;
}

Source source_of_ids(const Model& model, const std::vector<int32_t>& ids) {
  Source source{ids, {}};
  for (const int32_t id : ids) {
    uint32_t bytes = 0;
    const char* piece = heed_token_piece(&model.handle(), static_cast<uint32_t>(id), &bytes);
    source.words.push_back(piece ? std::string(piece, bytes) : "");
  }
  return source;
}

}  // namespace

std::vector<Source> gather_sources(const Model& model, const TranslateWork& work, const TranslateFlags& flags) {
  UnknownPlaces unknown;
  std::vector<Source> sources;
  if (!work.ids.empty()) {
    sequence_of_ids(model, work.ids, "--tokens");  // throws for ids outside the table
    sources.push_back(source_of_ids(model, work.ids));
  }
  for (size_t i = 0; i < work.texts.size(); ++i) {
    const std::string where = work.texts.size() == 1 ? "the text" : "text " + std::to_string(i + 1);
    sources.push_back(source_of_text(model, work.prompt, work.texts[i], where, &unknown));
    if (unknown.count > 0 && refuses_unknown(model, flags)) {
      throw Error(unknown.first + "; --unknown copy passes it through, --unknown unk reads it as the unknown token");
    }
    const size_t rows = sources.back().ids.size();
    if (rows <= model.max_sequence_rows()) continue;
    throw Error(model.path() + ": " + where + " has " + std::to_string(rows) + " tokens, this model takes at most " + std::to_string(model.max_sequence_rows()));
  }
  if (unknown.count > 0 && flags.unknown.empty()) {
    const std::string more = unknown.count > 1 ? " (and " + std::to_string(unknown.count - 1) + " more such places)" : "";
    note(unknown.first + more + ": read as the unknown token. --unknown copy passes such characters through, --unknown error refuses them");
  }
  return sources;
}

}  // namespace heed::tools
