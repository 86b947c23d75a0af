// `heed tokenize`: the ids that texts become.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/print.h"
#include "cli/sequences.h"

namespace heed::tools {
namespace {

struct TokenizeFlags {
  std::string path;
  std::optional<std::string> text;
  std::string texts;
  bool json = false;
};

std::string ids_line(const std::vector<heed_token>& tokens) {
  std::string line;
  for (const heed_token& token : tokens) line += (line.empty() ? "" : " ") + std::to_string(token.id);
  return line + "\n";
}

Json tokens_json(const Model& model, const std::vector<heed_token>& tokens) {
  Json ids = Json::array();
  Json pieces = Json::array();
  Json offsets = Json::array();
  for (const heed_token& token : tokens) {
    uint32_t bytes = 0;
    const char* piece = heed_token_piece(&model.handle(), token.id, &bytes);
    ids.push_back(token.id);
    pieces.push_back(piece ? std::string(piece, bytes) : "");
    offsets.push_back({token.begin, token.end});
  }
  return {{"ids", ids}, {"pieces", pieces}, {"offsets", offsets}};
}

void tokenize_texts(const TokenizeFlags& flags) {
  const Model model(flags.path);
  const std::vector<std::string> texts = flags.text ? std::vector{*flags.text} : read_texts(flags.texts);
  std::vector<std::vector<heed_token>> tokens;
  std::vector<size_t> kept;
  for (const std::string& text : texts) {
    tokens.push_back(tokenize(model, text));
    kept.push_back(tokens.back().size());
  }
  tell_cuts(model, texts, kept, flags.text ? "the text" : "text");
  if (flags.json && flags.text) return print_json(tokens_json(model, tokens[0]));
  if (flags.json) {
    Json all = Json::array();
    for (const std::vector<heed_token>& each : tokens) all.push_back(tokens_json(model, each));
    return print_json({{"texts", all}});
  }
  std::string lines;
  for (const std::vector<heed_token>& each : tokens) lines += ids_line(each);
  print(lines);
}

}  // namespace

void add_tokenize(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tokenize", "Print the ids of texts, special tokens included");
  auto flags = std::make_shared<TokenizeFlags>();
  command->add_option("model", flags->path, "Model file")->required()->type_name("m.heed");
  CLI::Option_group* from = command->add_option_group("input", "What to tokenize, one of");
  from->add_option("--text", flags->text, "A text; any bytes")->type_name("S");
  from->add_option("--texts", flags->texts, "A file with a text on each line; - is standard input")->type_name("FILE");
  from->require_option(1);
  command->add_flag("--json", flags->json, "One JSON object: ids, pieces and byte offsets; of --texts, a list of those");
  command->footer("Example:\n  heed tokenize build/models/minilm.heed --text \"A cat sat on the mat.\"");
  command->callback([flags] { tokenize_texts(*flags); });
}

}  // namespace heed::tools
