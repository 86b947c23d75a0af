// The flags that say what a model runs on, and the sequences they stand for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/sequences.h"
#include "cli/translate.h"

namespace heed::tools {

struct InputFlags {
  std::optional<std::string> text;
  std::string texts;
  std::optional<std::string> tokens;
  std::vector<std::string> inputs;  // NAME=x.npy
  std::optional<std::string> prompt;
};

// --text, --texts, --tokens or --input, of which one must be given, and --prompt-name.
void add_input_flags(CLI::App& command, InputFlags& flags);

// How many tokens of its text each sequence has.
std::vector<size_t> token_counts(const Model& model, const std::vector<Sequence>& sequences);
// One line on standard error if the model reads only the first tokens of a text: of which one, or of how many. `kept` has the
// tokens that were read of each, `place` names a text.
void tell_cuts(const Model& model, const std::vector<std::string>& texts, const std::vector<size_t>& kept, const std::string& place);

// What there is to run. `texts` is empty unless the input was text; `place` names a sequence in messages.
struct Work {
  std::vector<std::string> texts;
  std::vector<Sequence> sequences;
  const char* place = "the input";
};
Work gather(const Model& model, const InputFlags& flags);
// The same for an encoder-decoder, which takes no --input.
TranslateWork gather_translations(const Model& model, const InputFlags& flags);

}  // namespace heed::tools
