// What an encoder-decoder writes for sample inputs, by its own search.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "convert/evaluate.h"
#include "heed/heed.h"

namespace heed::tools {

// For each source the ids that `decode` reads while the model writes its output: the start token, then all but the last. As long as the
// model's defaults say, but no longer than some hundred tokens. Throws Error if the model does not run.
std::vector<Values> sample_outputs(const heed_model& model, const std::vector<Values>& sources);

}  // namespace heed::tools
