// The flags that subcommands share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>

#include "cli/session.h"

namespace heed::tools {

// Accepts a whole number in decimal digits from `least` to `most`, and nothing else.
CLI::Validator whole_number(uint64_t least, uint64_t most);

// Refuses empty values of all options but --text, and values of flags, of all subcommands.
void be_strict(CLI::App& app);

// --rows, --tile-rows, --threads, --precision, --isa, --arena, --context, --beams.
enum class Flag : uint32_t { kRows = 1, kTileRows = 2, kThreads = 4, kPrecision = 8, kIsa = 16, kArena = 32, kContext = 64, kBeams = 128 };
void add_session_flags(CLI::App& command, SessionFlags& flags, std::initializer_list<Flag> which);

}  // namespace heed::tools
