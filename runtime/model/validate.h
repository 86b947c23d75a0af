// What has to hold in a model file beyond its tables being well formed. The last word about a graph, whether shapes
// fit and the ops can do what it asks, is session/check.cpp's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "heed/heed.h"

namespace heed {

// Bounds of the format, so that products of sizes fit 64 bits and checking takes bounded time and stack.
constexpr uint32_t kMaxNodes = 4096;          // of a graph
constexpr uint32_t kMaxValues = 8192;         // of a graph
constexpr uint32_t kMaxRows = 1u << 24;       // of a pass
constexpr uint32_t kMaxFeatures = 1u << 20;   // of a value
constexpr uint32_t kMaxWeightSide = 1u << 26; // rows or columns of a weight
constexpr uint32_t kMaxStates = 1024;         // of a model

// Formats, sizes and places of all weights; scales positive and finite, sums possible. With `contents`, every checksum.
heed_status validate_weights(const heed_model& model, bool contents, heed_diagnostic* diagnostic);

// Names, ids, enums; each value made exactly once, before it is used.
heed_status validate_graphs(const heed_model& model, heed_diagnostic* diagnostic);

// Kinds, sizes and names of the states, and which nodes write them.
heed_status validate_states(const heed_model& model, heed_diagnostic* diagnostic);

// Sizes of the tokenizers' tables against each other, and every id in its vocabulary.
heed_status validate_tokenizers(const heed_model& model, heed_diagnostic* diagnostic);

}  // namespace heed
