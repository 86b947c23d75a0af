// `heed isa`: the instruction sets that heed knows, which of them are built in, which run here, and which is used.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/commands.h"
#include "cli/print.h"
#include "cli/session.h"
#include "kernels/kernels.h"

namespace heed::tools {
namespace {

void isa(bool json) {
  const std::string chosen = chosen_isa("");
  Json list = Json::array();
  Table table({"name", "built", "runs here", "chosen"});
  for (uint32_t i = 0; i < kIsaCount; ++i) {
    const std::string name = isa_name(i);
    const bool built = isa_table(i) != nullptr;
    const bool runs = built && isa_runs(i);
    list.push_back({{"name", name}, {"built", built}, {"runs", runs}, {"chosen", name == chosen}});
    table.add({name, built ? "yes" : "no", runs ? "yes" : "no", name == chosen ? "yes" : ""});
  }
  if (json) return print_json({{"isas", list}, {"chosen", chosen}});
  print(table.text());
}

}  // namespace

void add_isa(CLI::App& app) {
  CLI::App* command = app.add_subcommand("isa", "Instruction sets: which are built in, run here and are used");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "One JSON object");
  command->footer("Example:\n  heed isa\n  HEED_ISA=avx2 heed isa");
  command->callback([json] { isa(*json); });
}

}  // namespace heed::tools
