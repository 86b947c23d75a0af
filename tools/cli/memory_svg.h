// A picture of an arena: its parts to scale, and where each value lies while the graph runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/session.h"
#include "cli/shapes.h"

namespace heed::tools {

// `facts` are of the first graph. Downwards are bytes; to the right is time, one column for each op.
std::string memory_svg(const Model& model, const heed_limits& limits, const heed_memory& memory, const GraphFacts& facts);

}  // namespace heed::tools
