// Lines of a file, through the runtime's tokenizer.
// SPDX-License-Identifier: Apache-2.0
#include "convert/sample_texts.h"

#include <algorithm>

#include "error.h"
#include "files.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> read_lines(const fs::path& path) {
  const MappedFile file(path);
  std::vector<std::string> lines;
  std::string_view rest = file.text();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!line.empty()) lines.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

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
