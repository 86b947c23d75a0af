// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs.h"

#include <charconv>

#include "cli/print.h"
#include "error.h"

namespace heed::tools {
namespace {

std::vector<int32_t> parse_tokens(const std::string& text) {
  std::vector<int32_t> ids;
  const char* at = text.data();
  const char* end = at + text.size();
  for (;;) {
    int32_t id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (next != end && *next != ',')) {
      throw UsageError("--tokens wants ids with commas between them, like 101,7592,102, not '" + text + "'");
    }
    ids.push_back(id);
    if (next == end) return ids;
    at = next + 1;
  }
}

void check_prompt(const InputFlags& flags) {
  if (flags.prompt && !flags.text && flags.texts.empty()) throw UsageError("--prompt-name goes with --text or --texts; ids and .npy files have no prompt");
}

}  // namespace

void add_input_flags(CLI::App& command, InputFlags& flags) {
  CLI::Option_group* from = command.add_option_group("input", "What to run on, one of");
  from->add_option("--text", flags.text, "A text; any bytes")->type_name("S");
  from->add_option("--texts", flags.texts, "A file with a text on each line; - is standard input")->type_name("FILE");
  from->add_option("--tokens", flags.tokens, "Ids with commas between them")->type_name("1,2,3");
  from->add_option("--input", flags.inputs, "An input of the graph from a file; again for each")->type_name("NAME=x.npy")->allow_extra_args(false);
  from->require_option(1);
  command.add_option("--prompt-name", flags.prompt, "Which of the model's prompts goes before each text (default: the model's default)")->type_name("NAME");
}

std::vector<size_t> token_counts(const Model& model, const std::vector<Sequence>& sequences) {
  std::vector<size_t> counts;
  for (const Sequence& sequence : sequences) counts.push_back(sequence[text_input(model)].rows);
  return counts;
}

void tell_cuts(const Model& model, const std::vector<std::string>& texts, const std::vector<size_t>& kept, const std::string& place) {
  const uint32_t most = model.tables().tokenizer() ? model.tables().tokenizer()->truncation() : 0;
  if (most == 0) return;
  size_t cut = 0, first = 0;
  uint32_t tokens = 0;  // of the first that is cut
  for (size_t i = 0; i < texts.size(); ++i) {
    if (kept[i] < most) continue;
    const uint32_t all = count_tokens(model, texts[i]);
    if (all <= most) continue;
    if (cut++ > 0) continue;
    first = i;
    tokens = all;
  }
  if (cut == 0) return;
  const std::string who = place + (texts.size() > 1 ? " " + std::to_string(first + 1) : "");
  note(who + " has " + std::to_string(tokens) + " tokens, of which " + model.path() + " reads the first " + std::to_string(most) +
       (cut > 1 ? "; " + std::to_string(cut) + " of " + std::to_string(texts.size()) + " texts are cut" : ""));
}

Work gather(const Model& model, const InputFlags& flags) {
  check_prompt(flags);
  Work work;
  if (flags.tokens) work.sequences.push_back(sequence_of_ids(model, parse_tokens(*flags.tokens), "--tokens"));
  if (!flags.inputs.empty()) work.sequences.push_back(sequence_of_files(model, flags.inputs));
  if (flags.text) {
    work.texts = {*flags.text};
    work.place = "the text";
  }
  if (!flags.texts.empty()) {
    work.texts = read_texts(flags.texts);
    work.place = "text";
  }
  const std::vector<std::string> prompted = with_prompt(model, work.texts, flags.prompt);
  for (const std::string& text : prompted) work.sequences.push_back(sequence_of_text(model, text));
  if (!prompted.empty()) tell_cuts(model, prompted, token_counts(model, work.sequences), work.place);
  return work;
}

TranslateWork gather_translations(const Model& model, const InputFlags& flags) {
  check_prompt(flags);
  if (!flags.inputs.empty()) throw UsageError(model.path() + " translates texts: it takes --text, --texts or --tokens, and no --input");
  TranslateWork work;
  if (flags.tokens) work.ids = parse_tokens(*flags.tokens);
  if (flags.text) work.texts = {*flags.text};
  if (!flags.texts.empty()) work.texts = read_texts(flags.texts);
  work.prompt = prompt_text(model, flags.prompt);
  return work;
}

}  // namespace heed::tools
