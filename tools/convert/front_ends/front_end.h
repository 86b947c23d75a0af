// A front end turns one foreign format into a Spec. Each is one file here and one line of front_end_list.inc.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "convert/spec.h"

namespace heed::tools {

// `task`: which of the tasks that a source has settings for is meant; empty: none. Throws Error if the source has no such task.
#define HEED_FRONT_END(name, title)                         \
  bool accepts_##name(const std::filesystem::path& source); \
  Spec read_##name(const std::filesystem::path& source, const std::string& task = "");
#include "convert/front_end_list.inc"
#undef HEED_FRONT_END

}  // namespace heed::tools
