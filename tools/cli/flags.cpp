// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace heed::tools {

CLI::Validator whole_number(uint64_t least, uint64_t most) {
  const auto check = [least, most](std::string& text) -> std::string {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return "";
    return "'" + text + "' is not a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  };
  return CLI::Validator(check, "");
}

void be_strict(CLI::App& app) {
  const auto not_empty = [](const std::string& text) { return text.empty() ? "needs a value that is not empty" : ""; };
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0) {
      option->disable_flag_override();
    } else if (!option->check_lname("text")) {
      option->check(not_empty);
    }
  }
  for (CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; })) be_strict(*part);
}

void add_session_flags(CLI::App& command, SessionFlags& flags, std::initializer_list<Flag> which) {
  const auto wants = [&](Flag flag) { return std::find(which.begin(), which.end(), flag) != which.end(); };
  if (wants(Flag::kRows)) {
    command.add_option("--rows", flags.rows, "Plan for inputs of this many rows (default: what the input needs)")
        ->check(whole_number(1, 1u << 24))->type_name("N");
  }
  if (wants(Flag::kContext)) {
    command.add_option("--context", flags.context, "Rows that states which grow hold for a sequence (default: what the model says)")
        ->check(whole_number(1, 1u << 24))->type_name("N");
  }
  if (wants(Flag::kBeams)) {
    command.add_option("--beams", flags.beams, "Hypotheses of one source (default 1)")->check(whole_number(1, 1024))->type_name("N");
  }
  if (wants(Flag::kTileRows)) {
    command.add_option("--tile-rows", flags.tile_rows, "Rows worked on together, a multiple of 8: 8 where RAM counts (default 32)")
        ->check(whole_number(8, 1u << 16))->type_name("N")
        ->check([](const std::string& text) { return std::stoul(text) % 8 ? text + " is not a multiple of 8" : ""; });
  }
  if (wants(Flag::kThreads)) {
    command.add_option("--threads", flags.threads, "Threads (default 1); results do not depend on it")->check(whole_number(1, 256))->type_name("N");
  }
  if (wants(Flag::kPrecision)) {
    command.add_option("--precision", flags.precision, "Attention's scores and pooling: int8 or f32 (default: int8 where the weights are)")
        ->check(CLI::IsMember({"int8", "f32"}))->type_name("P");
  }
  if (wants(Flag::kIsa)) {
    command.add_option("--isa", flags.isa, "Instruction set, one of `heed isa` (default: HEED_ISA, else the best)")->type_name("NAME");
  }
  if (wants(Flag::kArena)) {
    command.add_option("--arena", flags.arena_bytes, "Give the arena exactly this many bytes (default: what is needed)")
        ->check(whole_number(0, std::numeric_limits<uint64_t>::max()))->type_name("BYTES");
  }
}

}  // namespace heed::tools
