// Tokenizes through the runtime, over a model file in memory that has the tokenizer and next to nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "convert/sample_texts.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "convert/graph_builder.h"
#include "convert/reopen.h"
#include "convert/write.h"
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

// A model file that is all tables: `spec`'s tokenizer over a graph without weights.
std::vector<uint8_t> tokenizer_file(Spec& spec) {
  Spec carrier;
  GraphBuilder graph(carrier, "main");
  const uint16_t input = graph.input("rows", schema::ElementType::f32, 1, false);
  graph.output("rows", graph.result(graph.node(schema::OpKind::L2Normalize, "rows", {input})));
  std::swap(carrier.model.tokenizer, spec.model.tokenizer);
  std::vector<uint8_t> bytes = file_head(carrier.model);
  std::swap(carrier.model.tokenizer, spec.model.tokenizer);
  return bytes;
}

class Tokenizer {
 public:
  explicit Tokenizer(Spec& spec) {
    const std::vector<uint8_t> bytes = tokenizer_file(spec);  // whole 64-byte lines
    bytes_.reset(std::aligned_alloc(HEED_ALIGNMENT, bytes.size()));
    if (!bytes_) throw Error("no memory for the tokenizer");
    std::memcpy(bytes_.get(), bytes.data(), bytes.size());
    heed_diagnostic diagnostic;
    const heed_status status = heed_open(bytes_.get(), bytes.size(), 0, &model_, &diagnostic);
    if (status != HEED_OK) throw Error("the tokenizer does not open: " + refusal_text(status, diagnostic, spec.model));
  }

  Values ids(const std::string& text) const {
    uint32_t count = 0;
    heed_status status = heed_tokenize(&model_, text.data(), text.size(), 0, nullptr, 0, &count);
    std::vector<heed_token> tokens(count);
    if (status == HEED_BUFFER_TOO_SMALL)
      status = heed_tokenize(&model_, text.data(), text.size(), 0, tokens.data(), count, &count);
    if (status != HEED_OK) throw Error(std::string("a text cannot be split into tokens: ") + heed_status_text(status));
    Values values{count, 0, {}, {}};
    for (const heed_token& token : tokens) values.ids.push_back(static_cast<int32_t>(token.id));
    return values;
  }

 private:
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  std::unique_ptr<void, Free> bytes_;
  heed_model model_;
};

}  // namespace

std::vector<Values> tokenize_texts(Spec& spec, const fs::path& path) {
  if (!spec.model.tokenizer) throw Error("--calibrate: this model has no tokenizer, so it cannot read texts");
  std::string prompt;
  for (const auto& one : spec.model.metadata->prompts) {
    if (one->name == spec.model.metadata->default_prompt) prompt = one->text;
  }
  const Tokenizer tokenizer(spec);
  std::vector<Values> sequences;
  for (const std::string& line : read_lines(path)) sequences.push_back(tokenizer.ids(prompt + line));
  if (sequences.empty()) {
    throw Error(path.string() +
                ": has no text; give a file with one text a line, a hundred like those the model will see");
  }
  return sequences;
}

}  // namespace heed::tools
