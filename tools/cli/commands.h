// The subcommands of the heed program: each adds itself, its flags and an example to the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace heed::tools {

void add_convert(CLI::App& app);
void add_inspect(CLI::App& app);
void add_run(CLI::App& app);
void add_bench(CLI::App& app);
void add_compare(CLI::App& app);
void add_verify(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_isa(CLI::App& app);
void add_attention(CLI::App& app);

}  // namespace heed::tools
