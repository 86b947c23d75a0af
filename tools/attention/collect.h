// The attention of one pass over the model's first graph: what an encoder looked at.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "attention/maps.h"
#include "cli/sequences.h"
#include "cli/session.h"

namespace heed::tools {

// The attention layers and the labels of their rows, without weights: enough to choose maps from. Throws Error if the graph has
// no attention, or more weights than there is sense in showing.
Attention describe_attention(const Model& model, const Sequence& sequence);

// Runs `sequence` and fills in the weights. Throws Error if layers differ in rows or keys.
void collect_attention(const Model& model, const Sequence& sequence, const SessionFlags& flags, Attention* attention);

// What ids stand for: pieces of the model's vocabulary, else the ids themselves.
std::vector<std::string> labels_of_ids(const Model& model, const std::vector<int32_t>& ids);

}  // namespace heed::tools
