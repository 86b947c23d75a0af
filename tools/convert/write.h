// Writes a model file (schemas/FORMAT.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "convert/quantize.h"
#include "files.h"

namespace heed::tools {

// Gives every weight its place, completes `model`, and writes all of it to `file`, which is not committed.
void write_model(schema::ModelT& model, const std::vector<PackedWeight>& weights, AtomicFile& file);

// The file up to its weight region: for a model without weights, the whole of it.
std::vector<uint8_t> file_head(schema::ModelT& model);

}  // namespace heed::tools
