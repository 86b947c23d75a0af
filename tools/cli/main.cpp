// The heed program. Exit 0: done; 1: the data or the machine is at fault; 2: wrong usage.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "heed_host.h"
#include "cli/print.h"
#include "error.h"

namespace {

constexpr int kDataExit = 1;
constexpr int kUsageExit = 2;

int fail(int exit_code, const std::string& message) {
  std::fprintf(stderr, "heed: error: %s\n", heed::tools::printable(message).c_str());
  return exit_code;
}

// The arguments last first, as CLI11 takes them. `--name=` is an empty value, which CLI11 would take for none at all.
std::vector<std::string> reversed_arguments(int count, char** arguments) {
  std::vector<std::string> list;
  for (int i = count - 1; i > 0; --i) {
    std::string argument = arguments[i];
    if (argument.size() > 3 && argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
      list.push_back("");
      argument.pop_back();
    }
    list.push_back(argument);
  }
  return list;
}

int run(int argc, char** argv) {
  CLI::App app("heed runs attention models on small machines.\n", "heed");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("heed ") + HEED_PROGRAM_VERSION);
  app.footer("`heed COMMAND --help` shows a command's flags and an example.");
  heed::tools::add_convert(app);
  heed::tools::add_inspect(app);
  heed::tools::add_run(app);
  heed::tools::add_bench(app);
  heed::tools::add_compare(app);
  heed::tools::add_verify(app);
  heed::tools::add_tokenize(app);
  heed::tools::add_isa(app);
  try {
    app.parse(reversed_arguments(argc, argv));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "heed" : "heed " + chosen[0]->get_name();
    return fail(kUsageExit, std::string(error.what()) + "; see `" + command + " --help`");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  heed_host_prepare();
  try {
    return run(argc, argv);
  } catch (const heed::tools::UsageError& error) {
    return fail(kUsageExit, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kDataExit, "the machine has no memory left");
  } catch (const std::exception& error) {
    return fail(kDataExit, error.what());
  }
}
