// Catch2's main, compiled once for each test program.
// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "heed_host.h"
#include "session/float_control.h"

int main(int argc, char** argv) {
  heed_host_prepare();
  const heed::FloatControl as_in_a_run;
  return Catch::Session().run(argc, argv);
}
