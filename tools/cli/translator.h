// An encoder-decoder with its session and the block that a search takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/session.h"
#include "heed/generate.h"

namespace heed::tools {

// A graph of a translator.
const schema::Graph& graph_named(const Model& model, std::string_view name);

// Limits for inputs of at most `rows` tokens and outputs of options.max_tokens.
heed_limits translator_limits(const Model& model, const SessionFlags& flags, const heed_generate_options& options, uint32_t rows);
// Bytes of the search's block.
uint64_t generator_bytes(const Model& model, const heed_generate_options& options);

// What a search found.
struct Found {
  std::vector<uint32_t> tokens;
  std::vector<float> log_probabilities;
  float score = 0;
  bool stopped = false;
};

class Translator {
 public:
  Translator(const Model& model, const SessionFlags& flags, const heed_generate_options& options, uint32_t rows);

  Found search(const std::vector<int32_t>& source);
  // Runs over an output that is known, with a tap.
  void retrace(const std::vector<int32_t>& source, const std::vector<uint32_t>& tokens, const heed_retrace_tap& tap);
  // What `decode` says where an output that is known goes on: [tokens, features], the first row before its first token.
  std::vector<float> logits(const std::vector<int32_t>& source, const std::vector<uint32_t>& tokens);
  Session& session() { return session_; }
  uint64_t block_bytes() const { return block_bytes_; }

 private:
  heed_generation task_of(const std::vector<int32_t>& source) const;
  void run(const char* graph, const std::vector<int32_t>& ids);

  const Model& model_;
  heed_generate_options options_;
  Session session_;
  uint64_t block_bytes_;
  std::unique_ptr<void, void (*)(void*)> block_;
};

}  // namespace heed::tools
