// `heed verify`: reads every byte of a model file and checks it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/print.h"
#include "cli/session.h"
#include "error.h"
#include "model/weight.h"

namespace heed::tools {
namespace {

// Checksums cover the pieces of the weights; what lies between them has to be zero.
void check_gaps(const Model& model) {
  std::vector<std::pair<uint64_t, uint64_t>> pieces;  // offset, bytes
  for (const schema::Weight* weight : *model.tables().weights()) {
    const WeightParts parts = weight_parts(*weight);
    pieces.insert(pieces.end(), {{weight->data(), parts.data}, {weight->bias(), parts.bias}, {weight->scales(), parts.scales},
                                 {weight->sums(), parts.sums}, {weight->input_scale(), parts.input_scale}});
  }
  pieces.emplace_back(model.handle().weight_bytes, 0);
  std::sort(pieces.begin(), pieces.end());
  uint64_t covered = 0;
  for (const auto& [offset, bytes] : pieces) {
    for (; covered < offset; ++covered) {
      if (model.handle().weights[covered] == 0) continue;
      const auto at = static_cast<uint64_t>(model.handle().weights - static_cast<const uint8_t*>(model.handle().bytes)) + covered;
      throw Error(model.path() + ": byte " + std::to_string(at) + ": is not zero, though it belongs to no weight");
    }
    covered = std::max(covered, offset + bytes);
  }
}

void verify(const std::string& path, bool json) {
  const Model model(path, HEED_OPEN_CHECK_WEIGHTS);
  check_gaps(model);
  const uint64_t weights = model.tables().weights()->size();
  if (json) return print_json({{"file", path}, {"ok", true}, {"bytes", model.file_bytes()}, {"weights", weights}});
  print(printable(path) + ": good: " + grouped(model.file_bytes()) + " bytes, " + grouped(weights) + " weights\n");
}

}  // namespace

void add_verify(CLI::App& app) {
  struct Flags {
    std::string path;
    bool json = false;
  };
  CLI::App* command = app.add_subcommand("verify", "Check every byte of a model file: tables, meaning, every weight's checksum");
  auto flags = std::make_shared<Flags>();
  command->add_option("model", flags->path, "Model file")->required()->type_name("m.heed");
  command->add_flag("--json", flags->json, "One JSON object");
  command->footer("Example:\n  heed verify build/models/minilm.heed");
  command->callback([flags] { verify(flags->path, flags->json); });
}

}  // namespace heed::tools
