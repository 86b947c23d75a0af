// Lines of a file, through the runtime's tokenizer.
// SPDX-License-Identifier: Apache-2.0
#include "convert/sample_texts.h"

#include "convert/tokenizer.h"
#include "error.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

Values token_ids(const heed_model& model, const std::string& text) {
  uint32_t count = 0;
  heed_status status = heed_tokenize(&model, text.data(), text.size(), 0, nullptr, 0, &count);
  std::vector<heed_token> tokens(count);
  if (status == HEED_BUFFER_TOO_SMALL) {
    status = heed_tokenize(&model, text.data(), text.size(), 0, tokens.data(), count, &count);
  }
  if (status != HEED_OK) throw Error(std::string("a text cannot be split into tokens: ") + heed_status_text(status));
  Values values{count, 0, {}, {}};
  for (const heed_token& token : tokens) values.ids.push_back(static_cast<int32_t>(token.id));
  return values;
}

}  // namespace

std::vector<Values> tokenize_texts(const heed_model& model, const schema::MetadataT& metadata, const fs::path& path) {
  std::string prompt;
  for (const auto& one : metadata.prompts) {
    if (one->name == metadata.default_prompt) prompt = one->text;
  }
  std::vector<Values> sequences;
  for (const std::string& line : read_lines(path)) {
    if (line.empty()) continue;
    sequences.push_back(token_ids(model, prompt + line));
    if (sequences.back().rows == 0) sequences.pop_back();
  }
  if (sequences.empty()) {
    throw Error(path.string() +
                ": has no text; give a file with one text a line, a hundred like those the model will see");
  }
  return sequences;
}

}  // namespace heed::tools
