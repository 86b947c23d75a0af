// `heed verify`: reads every byte of a model file and checks it.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/commands.h"
#include "cli/print.h"
#include "cli/session.h"

namespace heed::tools {
namespace {

void verify(const std::string& path, bool json) {
  const Model model(path, HEED_OPEN_CHECK_WEIGHTS);
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
