// How setup code says where and why it refused: fills the caller's heed_diagnostic and hands the status through.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "heed/heed.h"

namespace heed {

inline heed_diagnostic no_diagnostic() { return {-1, -1, -1, -1, -1, -1, -1, -1, -1, nullptr}; }

inline heed_status refuse(heed_diagnostic* diagnostic, heed_status status, const char* what, int64_t found = -1,
                          int64_t expected = -1) {
  diagnostic->what = what;
  diagnostic->found = found;
  diagnostic->expected = expected;
  return status;
}

// Gives internal code a diagnostic that is never null, and the caller's, if there is one, the outcome.
class Report {
 public:
  explicit Report(heed_diagnostic* caller) : caller_(caller) {
    if (caller_) *caller_ = no_diagnostic();
  }
  heed_diagnostic* operator->() { return &own_; }
  heed_diagnostic* get() { return &own_; }
  heed_status done(heed_status status) {
    if (caller_) *caller_ = status == HEED_OK ? no_diagnostic() : own_;
    return status;
  }

 private:
  heed_diagnostic* caller_;
  heed_diagnostic own_ = no_diagnostic();
};

}  // namespace heed
