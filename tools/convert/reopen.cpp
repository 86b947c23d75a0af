// The converter's last step: the runtime has the final word.
// SPDX-License-Identifier: Apache-2.0
#include "convert/reopen.h"

#include <cstdlib>
#include <memory>
#include <string_view>

#include "error.h"

namespace heed::tools {
namespace {

void check(heed_status status, const heed_diagnostic& diagnostic, const Spec& spec) {
  if (status == HEED_OK) return;
  throw Error(spec.origin + ": the converted model does not run: " + refusal_text(status, diagnostic, spec.model));
}

// ", rows 3 (at most 2)", as far as it is known.
std::string reason_text(heed_status status, const heed_diagnostic& diagnostic) {
  if (status == HEED_BAD_SHAPE && diagnostic.what && std::string_view(diagnostic.what) == "features") {  // of a Linear
    return ": the input has " + std::to_string(diagnostic.found) + " features, the weight takes " + std::to_string(diagnostic.expected);
  }
  std::string text;
  if (diagnostic.what) text += std::string(", ") + diagnostic.what;
  if (diagnostic.found >= 0) text += " " + std::to_string(diagnostic.found);
  if (diagnostic.expected >= 0) text += " (" + wanted_text(status, diagnostic) + ")";
  return text;
}

}  // namespace

std::string wanted_text(heed_status status, const heed_diagnostic& diagnostic) {
  const bool bound = status == HEED_TOO_LONG || status == HEED_TOO_LARGE || status == HEED_BAD_LIMITS ||
                     status == HEED_BAD_INPUT;
  const bool most = diagnostic.found < 0 || diagnostic.found > diagnostic.expected;
  return (!bound ? "expected " : most ? "at most " : "at least ") + std::to_string(diagnostic.expected);
}

std::string refusal_text(heed_status status, const heed_diagnostic& diagnostic, const schema::ModelT& model) {
  std::string text = heed_status_text(status) + reason_text(status, diagnostic);
  const size_t graph = diagnostic.graph < 0 ? 0 : static_cast<size_t>(diagnostic.graph);
  if (diagnostic.node >= 0 && graph < model.graphs.size()) {
    const auto& nodes = model.graphs[graph]->nodes;
    const size_t node = static_cast<size_t>(diagnostic.node);
    if (node < nodes.size()) {
      text += ", at node '" + nodes[node]->name + "' (" + schema::EnumNameOpKind(nodes[node]->op) + ")";
    }
  }
  if (diagnostic.weight >= 0 && static_cast<size_t>(diagnostic.weight) < model.weights.size()) {
    text += ", weight '" + model.weights[diagnostic.weight]->name + "'";
  }
  if (diagnostic.value >= 0) text += ", value " + std::to_string(diagnostic.value);
  return text;
}

void reopen(AtomicFile& file, const Spec& spec, ConvertReport& report) {
  file.flush();
  const MappedFile written(file.temporary_path());
  heed_model opened;
  heed_diagnostic diagnostic;
  check(heed_open(written.data(), written.size(), HEED_OPEN_CHECK_WEIGHTS, &opened, &diagnostic), diagnostic, spec);
  heed_limits limits;
  heed_default_limits(&opened, &limits);
  heed_memory memory;
  check(heed_required_bytes(&opened, &limits, &memory, &diagnostic), diagnostic, spec);
  const std::unique_ptr<void, decltype(&std::free)> arena(std::aligned_alloc(HEED_ALIGNMENT, memory.total_bytes),
                                                          std::free);
  if (!arena) {
    throw Error("no memory for an arena of " + std::to_string(memory.total_bytes) +
                " bytes; convert with a smaller --max-rows");
  }
  heed_session session;
  check(heed_plan(&opened, &limits, arena.get(), memory.total_bytes, nullptr, &session, &diagnostic), diagnostic, spec);
  report.file_bytes = written.size();
  report.weight_bytes = spec.model.weight_region_bytes;
  report.table_bytes = report.file_bytes - report.weight_bytes;
  report.arena_bytes = memory.total_bytes;
  report.arena_rows = limits.max_rows;
}

}  // namespace heed::tools
