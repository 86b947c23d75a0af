// SPDX-License-Identifier: Apache-2.0
#include "cli/translator.h"

#include <algorithm>
#include <cstdlib>

#include "error.h"

namespace heed::tools {

const schema::Graph& graph_named(const Model& model, std::string_view name) { return *model.tables().graphs()->Get(graph_index(model, name)); }

heed_limits translator_limits(const Model& model, const SessionFlags& flags, const heed_generate_options& options, uint32_t rows) {
  heed_limits limits = make_limits(model, flags, {std::max(rows, options.beams), options.beams, rows});
  limits.beams = options.beams;
  if (limits.max_context) limits.max_context = options.max_tokens;  // 0: no state grows
  return limits;
}

uint64_t generator_bytes(const Model& model, const heed_generate_options& options) {
  uint64_t bytes = 0;
  heed_diagnostic diagnostic = empty_diagnostic();
  check(heed_generate_bytes(&options, &bytes, &diagnostic), diagnostic, model.path(), &model.handle());
  return bytes;
}

Translator::Translator(const Model& model, const SessionFlags& flags, const heed_generate_options& options, uint32_t rows)
    : model_(model),
      options_(options),
      session_(model, translator_limits(model, flags, options, rows), flags),
      block_bytes_(generator_bytes(model, options)),
      block_(std::aligned_alloc(HEED_ALIGNMENT, (block_bytes_ / HEED_ALIGNMENT + 1) * HEED_ALIGNMENT), std::free) {
  if (!block_) throw Error(model.path() + ": the machine has no " + std::to_string(block_bytes_) + " bytes for the search");
}

heed_generation Translator::task_of(const std::vector<int32_t>& source) const {
  return {&options_, source.data(), static_cast<uint32_t>(source.size()), block_.get(), block_bytes_};
}

Found Translator::search(const std::vector<int32_t>& source) {
  const heed_generation task = task_of(source);
  heed_generated output;
  heed_diagnostic diagnostic = empty_diagnostic();
  check(heed_generate(session_.handle(), &task, &output, &diagnostic), diagnostic, model_.path(), &model_.handle());
  return {{output.tokens, output.tokens + output.count}, {output.log_probabilities, output.log_probabilities + output.count}, output.score,
          output.stopped != 0};
}

void Translator::retrace(const std::vector<int32_t>& source, const std::vector<uint32_t>& tokens, const heed_retrace_tap& tap) {
  const heed_generation task = task_of(source);
  heed_diagnostic diagnostic = empty_diagnostic();
  check(heed_retrace(session_.handle(), &task, tokens.data(), static_cast<uint32_t>(tokens.size()), &tap, &diagnostic), diagnostic, model_.path(),
        &model_.handle());
}

void Translator::run(const char* graph, const std::vector<int32_t>& ids) {
  const heed_input input{graph_named(model_, graph).inputs()->Get(0)->name()->c_str(), ids.data(), static_cast<uint32_t>(ids.size()), nullptr};
  heed_pass pass{};
  pass.size = sizeof pass;
  pass.graph = graph;
  pass.inputs_count = 1;
  pass.inputs = &input;
  session_.run(pass);
}

std::vector<float> Translator::logits(const std::vector<int32_t>& source, const std::vector<uint32_t>& tokens) {
  std::vector<float> rows;
  heed_reset(session_.handle());
  run("encode", source);
  for (size_t i = 0; i < tokens.size(); ++i) {
    run("decode", {static_cast<int32_t>(i == 0 ? options_.start_token : tokens[i - 1])});
    const heed_output output = session_.output(0);
    rows.insert(rows.end(), output.data, output.data + output.features);
  }
  return rows;
}

}  // namespace heed::tools
