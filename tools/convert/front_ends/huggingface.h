// What all Hugging Face folders share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "convert/json.h"

namespace heed::tools {

// Marks keys of any config as known that do not change what a model computes.
void ignore_common(Config& config);

}  // namespace heed::tools
