// `heed run` of an encoder-decoder: texts in, texts out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attention/maps.h"
#include "cli/translator.h"

namespace heed::tools {

struct TranslateFlags {
  std::optional<uint32_t> beams;
  std::optional<uint32_t> max_tokens;
  std::optional<uint32_t> min_tokens;
  std::optional<uint32_t> no_repeat;
  std::optional<double> length_penalty;
  std::string unknown;  // error, copy or unk; empty: error for a vocabulary of words, unk for one of subwords
  bool copies_unknown() const { return unknown == "copy"; }
};
void add_translate_flags(CLI::App& command, TranslateFlags& flags);

// Throws Error if a flag is given that only such a model has a use for.
void refuse_translate_flags(const Model& model, const TranslateFlags& flags);

// Throws Error, which begins with `flag`, if the states that grow with an output have no room for so many tokens.
void check_max_tokens(const Model& model, uint32_t tokens, const char* flag);

// What is translated: texts, or ids without a text.
struct TranslateWork {
  std::string prompt;  // before each text
  std::vector<std::string> texts;
  std::vector<int32_t> ids;
};
struct TranslatePrint {
  bool json = false;
  bool digest = false;
};
void translate(const Model& model, const TranslateWork& work, const TranslateFlags& flags, const SessionFlags& session, TranslatePrint print);

// The layers of `decode` that look at the input, without weights. Throws Error if there is none.
Attention describe_translation(const Model& model);
// Translates the one text or list of ids, and gives what each token of the output (a row) looked at in the input. Throws Error if
// there is more than one, or an output without tokens.
Attention translation_attention(const Model& model, const TranslateWork& work, const TranslateFlags& flags, const SessionFlags& session);

}  // namespace heed::tools
