// How far an encoder-decoder's outputs are from another's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "cli/difference.h"
#include "cli/sequences.h"
#include "cli/session.h"

namespace heed::tools {

struct DecodeDifference {
  Difference logits;          // of `decode`, along the outputs that the reference writes
  uint64_t tokens = 0;        // of these outputs, with those that end them
  uint64_t same_choices = 0;  // tokens where both models have the same likeliest one
  uint64_t same_outputs = 0;  // cases in which both write the same by themselves
};

// One of two models, and what it reads.
struct DecodeSide {
  const Model& model;
  const std::vector<Sequence>& sequences;
  const SessionFlags& session;
};

// Outputs are searched with one beam. Throws Error if the models have other target vocabularies.
DecodeDifference compare_decode(const DecodeSide& ours, const DecodeSide& reference);

}  // namespace heed::tools
