// Beam search over the logits of one step after another. Knows nothing of sessions.
// SPDX-License-Identifier: Apache-2.0
//
// Hypotheses share their beginnings: each step keeps for each hypothesis its last token and which hypothesis of the step before
// it continues, so a hypothesis is read from its end.
#pragma once
#include <cstdint>

#include "heed/generate.h"
#include "kernels/kernels.h"
#include "ops/carver.h"

namespace heed {

// A way to continue a hypothesis.
struct Candidate {
  float sum;          // of log probabilities, this token included
  float probability;  // its logarithm
  uint32_t beam;
  uint32_t token;
};

// A hypothesis that ended.
struct Finished {
  float score;
  uint32_t steps;  // tokens before the stop token
  uint32_t beam;   // that it is at the end of those steps
  uint32_t stopped;
};

static_assert(sizeof(Candidate) == 16 && sizeof(Finished) == 16, "the same on every machine");

// The logits of a step: [rows, cols], `stride` floats from row to row.
struct Logits {
  const Kernels& kernels;
  const float* data;
  uint32_t rows;
  uint32_t cols;
  uint32_t stride;
};

class BeamSearch {
 public:
  // `block` may be null: then only bytes() is of use. The options have passed check_options.
  BeamSearch(const heed_generate_options& options, uint8_t* block);
  uint64_t bytes() const { return bytes_; }

  // One hypothesis without tokens.
  void start();
  // Takes the logits of the hypotheses that live, in order. False if they are not numbers.
  bool step(const Logits& logits);
  // Whether another step is needed.
  bool going() const { return live_ > 0 && steps_ < options_.max_tokens; }

  // The hypotheses that live: how many, the token that each ends with, and which one of the step before it continues.
  uint32_t live() const { return live_; }
  const int32_t* last_tokens() const { return last_; }
  const uint32_t* parents() const { return live_parents_; }
  // The rows of each of them in a step: a run of ones.
  const uint32_t* ones() const { return ones_; }

  // Ends what still lives and gives the best. Called once.
  void finish(heed_generated* output);

 private:
  bool collect(const Logits& logits);
  bool collect_row(const float* logits, uint32_t cols, float total, uint32_t beam);
  void offer(const Candidate& candidate);
  void choose();
  bool is_better_possible() const;
  void keep_finished(const Finished& finished);
  // Token that is the only one possible now, or HEED_NO_TOKEN.
  uint32_t forced() const;
  // Fills path_ with the start token and the tokens of a hypothesis at the end of `steps` steps.
  void trace(uint32_t steps, uint32_t beam);
  // Fills banned_ with what may not follow path_.
  void find_banned();
  bool is_banned(uint32_t token) const;
  uint64_t place(uint32_t step, uint32_t beam) const { return uint64_t{step} * options_.beams + beam; }

  const heed_generate_options& options_;
  uint64_t bytes_;
  uint32_t live_ = 0;
  uint32_t steps_ = 0;
  uint32_t candidates_count_ = 0;
  uint32_t finished_count_ = 0;
  uint32_t banned_count_ = 0;
  // Of all steps, [max_tokens][beams].
  uint32_t* tokens_;
  uint32_t* parents_;
  float* probabilities_;
  // Of the present step.
  float* sums_;             // [beams]
  int32_t* last_;           // [beams]
  uint32_t* live_parents_;  // [beams]
  uint32_t* ones_;          // [beams]
  Candidate* candidates_;   // [2 * beams], best first
  Finished* finished_;      // [beams], best first
  uint32_t* path_;          // [max_tokens + 1]
  uint32_t* banned_;        // [max_tokens + 1]
  float* best_;             // [max_tokens] log probabilities of the best hypothesis
};

}  // namespace heed
