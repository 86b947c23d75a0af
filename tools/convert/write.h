// Writes a model file (schemas/FORMAT.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "convert/quantize.h"
#include "files.h"

namespace heed::tools {

// Gives every weight its place, completes `model`, and writes all of it to `file`, which is not committed.
void write_model(schema::ModelT& model, const std::vector<PackedWeight>& weights, AtomicFile& file);

}  // namespace heed::tools
