// The heed program. Exit 0: done; 1: the data or the machine is at fault; 2: wrong usage.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/flags.h"
#include "heed_host.h"
#include "cli/print.h"
#include "error.h"

namespace {

constexpr int kDataExit = 1;
constexpr int kUsageExit = 2;

// A name in a file may have any length. Where things are stands at the front of a message, what to do at its end.
std::string without_middle(const std::string& message) {
  constexpr size_t kMost = 1500, kFront = 1000, kEnd = 400;
  if (message.size() <= kMost) return message;
  return message.substr(0, kFront) + " ... (" + std::to_string(message.size() - kFront - kEnd) + " bytes) ... " + message.substr(message.size() - kEnd);
}

int fail(int exit_code, const std::string& message) {
  std::fprintf(stderr, "heed: error: %s\n", heed::tools::printable(without_middle(message)).c_str());
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

// What is wrong, in the words of heed where CLI11 does not name the culprit: arguments that nobody takes.
std::string reason(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& reversed) {
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const bool extra = code == CLI::ExitCodes::ExtrasError || code == CLI::ExitCodes::RequiredError;
  std::vector<std::string> left = app.remaining(true);
  if (!extra || left.empty()) return error.what();
  std::string list;
  for (auto at = reversed.rbegin(); at != reversed.rend(); ++at) {
    const auto found = std::find_if(left.begin(), left.end(), [&](const std::string& one) { return one == *at; });
    if (found == left.end()) continue;
    if (at->size() > 1 && at->front() == '-') return "unknown option " + *at;
    if (app.get_subcommands().empty()) return "unknown command '" + *at + "'";
    list += (list.empty() ? "'" : ", '") + *at + "'";
    left.erase(found);
  }
  return "arguments that are too many: " + list;
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
  heed::tools::add_attention(app);
  heed::tools::be_strict(app);
  const std::vector<std::string> reversed = reversed_arguments(argc, argv);
  try {
    app.parse(std::vector<std::string>(reversed));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app.exit(error, text, text);
      heed::tools::print(text.str());
      return 0;
    }
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "heed" : "heed " + chosen[0]->get_name();
    return fail(kUsageExit, reason(app, error, reversed) + "; see `" + command + " --help`");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is then an error like any other
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
