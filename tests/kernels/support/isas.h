// The kernel tables that tests run: all that are built and that this machine can execute.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace heed::tests {

inline std::vector<const Kernels*> runnable_tables() {
  std::vector<const Kernels*> tables;
  for (uint32_t i = 0; i < kIsaCount; ++i) {
    if (isa_table(i) && isa_runs(i)) tables.push_back(isa_table(i));
  }
  return tables;
}

// Each instruction set by name with what became of it: "ran" or "not possible here" and why.
inline std::string isa_report() {
  std::string report;
  for (uint32_t i = 0; i < kIsaCount; ++i) {
    report += std::string(isa_name(i)) + ": ";
    report += !isa_table(i) ? "not possible here (not built)\n"
              : !isa_runs(i) ? "not possible here (this processor lacks it)\n"
                             : "ran\n";
  }
  return report;
}

}  // namespace heed::tests
