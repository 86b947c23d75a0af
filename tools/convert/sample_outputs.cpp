// A session of one beam, and heed_generate.
// SPDX-License-Identifier: Apache-2.0
#include "convert/sample_outputs.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "error.h"
#include "heed/generate.h"

namespace heed::tools {
namespace {

constexpr uint32_t kMostTokens = 256;

using Block = std::unique_ptr<void, decltype(&std::free)>;

Block take(uint64_t bytes) {
  Block block(std::aligned_alloc(HEED_ALIGNMENT, (bytes / HEED_ALIGNMENT + 1) * HEED_ALIGNMENT), std::free);
  if (!block) throw Error("--calibrate: the machine has no " + std::to_string(bytes) + " bytes for the model's outputs");
  return block;
}

void check(heed_status status, const heed_diagnostic& diagnostic) {
  if (status == HEED_OK) return;
  throw Error(std::string("--calibrate: the model gives no output: ") + heed_status_text(status) + (diagnostic.what ? std::string(", ") + diagnostic.what : ""));
}

heed_limits limits_for(const heed_model& model, const std::vector<Values>& sources, uint32_t tokens) {
  heed_limits limits;
  heed_default_limits(&model, &limits);
  limits.max_sequence_rows = 1;
  for (const Values& source : sources) limits.max_sequence_rows = std::max(limits.max_sequence_rows, source.rows);
  limits.max_rows = limits.max_sequence_rows;
  limits.max_sequences = limits.beams = 1;
  if (limits.max_context > 0) limits.max_context = tokens;
  return limits;
}

}  // namespace

std::vector<Values> sample_outputs(const heed_model& model, const std::vector<Values>& sources) {
  heed_generate_options options;
  heed_default_generate_options(&model, &options);
  options.beams = 1;
  options.max_tokens = std::min(options.max_tokens, kMostTokens);
  const heed_limits limits = limits_for(model, sources, options.max_tokens);

  heed_diagnostic diagnostic{};
  heed_memory memory;
  check(heed_required_bytes(&model, &limits, &memory, &diagnostic), diagnostic);
  const Block arena = take(memory.total_bytes);
  heed_session session;
  check(heed_plan(&model, &limits, arena.get(), memory.total_bytes, nullptr, &session, &diagnostic), diagnostic);
  uint64_t bytes = 0;
  check(heed_generate_bytes(&options, &bytes, &diagnostic), diagnostic);
  const Block block = take(bytes);

  std::vector<Values> outputs;
  for (const Values& source : sources) {
    const heed_generation task{&options, source.ids.data(), source.rows, block.get(), bytes};
    heed_generated generated;
    check(heed_generate(&session, &task, &generated, &diagnostic), diagnostic);
    Values output{0, 0, {}, {static_cast<int32_t>(options.start_token)}};
    output.ids.insert(output.ids.end(), generated.tokens, generated.tokens + generated.count);
    if (!generated.stopped && generated.count > 0) output.ids.pop_back();
    output.rows = static_cast<uint32_t>(output.ids.size());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace heed::tools
