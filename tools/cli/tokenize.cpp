// `heed tokenize`: the ids a text becomes.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/commands.h"
#include "cli/print.h"
#include "cli/sequences.h"

namespace heed::tools {
namespace {

struct TokenizeFlags {
  std::string path;
  std::string text;
  bool json = false;
};

void tokenize_text(const TokenizeFlags& flags) {
  const Model model(flags.path);
  const std::vector<heed_token> tokens = tokenize(model, flags.text);
  if (!flags.json) {
    std::string line;
    for (const heed_token& token : tokens) line += (line.empty() ? "" : " ") + std::to_string(token.id);
    return print(line + "\n");
  }
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
  print_json({{"ids", ids}, {"pieces", pieces}, {"offsets", offsets}});
}

}  // namespace

void add_tokenize(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tokenize", "Print the ids of a text, special tokens included");
  auto flags = std::make_shared<TokenizeFlags>();
  command->add_option("model", flags->path, "Model file")->required()->type_name("m.heed");
  command->add_option("--text", flags->text, "Text; any bytes")->required()->type_name("S");
  command->add_flag("--json", flags->json, "One JSON object: ids, pieces and byte offsets");
  command->footer("Example:\n  heed tokenize build/models/minilm.heed --text \"A cat sat on the mat.\"");
  command->callback([flags] { tokenize_text(*flags); });
}

}  // namespace heed::tools
