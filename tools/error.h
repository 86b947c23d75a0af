// How a tool says that something is wrong: main prints `heed: error: <message>` and exits 1 (Error) or 2 (UsageError).
// A message is one line for a person: it names the file, the place and the numbers, and ends with what to do next.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>
#include <string>

namespace heed::tools {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace heed::tools
