// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <algorithm>

namespace heed::tools {

void add_session_flags(CLI::App& command, SessionFlags& flags, std::initializer_list<Flag> which) {
  const auto wants = [&](Flag flag) { return std::find(which.begin(), which.end(), flag) != which.end(); };
  if (wants(Flag::kRows)) {
    command.add_option("--rows", flags.rows, "Plan for inputs of this many rows (default: what the input needs)")
        ->check(CLI::Range(1u, 1u << 24))->type_name("N");
  }
  if (wants(Flag::kTileRows)) {
    command.add_option("--tile-rows", flags.tile_rows, "Rows worked on together, a multiple of 8: 8 where RAM counts (default 32)")
        ->check(CLI::Range(8u, 1u << 16))->type_name("N")
        ->check([](const std::string& text) { return std::stoul(text) % 8 ? text + " is not a multiple of 8" : ""; });
  }
  if (wants(Flag::kThreads)) {
    command.add_option("--threads", flags.threads, "Threads (default 1); results do not depend on it")->check(CLI::Range(1u, 256u))->type_name("N");
  }
  if (wants(Flag::kPrecision)) {
    command.add_option("--precision", flags.precision, "Attention's scores and pooling: int8 or f32 (default: int8 where the weights are)")
        ->check(CLI::IsMember({"int8", "f32"}))->type_name("P");
  }
  if (wants(Flag::kIsa)) {
    command.add_option("--isa", flags.isa, "Instruction set, one of `heed isa` (default: HEED_ISA, else the best)")->type_name("NAME");
  }
  if (wants(Flag::kArena)) {
    command.add_option("--arena", flags.arena_bytes, "Give the arena exactly this many bytes (default: what is needed)")->type_name("BYTES");
  }
}

}  // namespace heed::tools
