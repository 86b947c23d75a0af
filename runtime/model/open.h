// From bytes to a verified view of a model file; everything but what the ops have to say about its graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "heed/heed.h"

namespace heed {

// A file: u32 length, FlatBuffer of that length with identifier HEED, u64 XXH64 of all bytes before it, zeros up to a
// multiple of 64, weight region up to the end of the file.
constexpr uint32_t kFormatVersion = 1;
constexpr uint64_t kMaxTableBytes = uint64_t{64} << 20;

// Fills `model` and checks the file as model/validate.h describes. `diagnostic` is never null.
heed_status open_file(const void* bytes, uint64_t size, uint32_t flags, heed_model* model, heed_diagnostic* diagnostic);

// The checksum that the file carries; differs between any two files that differ outside their weights.
uint64_t file_checksum(const heed_model& model);

}  // namespace heed
