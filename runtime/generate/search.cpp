// Beam search: candidates of a step, what lives on, what has ended.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"

#include "generate/search.h"

#include "generate/power.h"

namespace heed {

BeamSearch::BeamSearch(const heed_generate_options& options, uint8_t* block) : options_(options) {
  Carver carver(block);
  const uint64_t beams = options.beams;
  const uint64_t nodes = options.max_tokens * beams;
  tokens_ = carver.take<uint32_t>(nodes);
  parents_ = carver.take<uint32_t>(nodes);
  probabilities_ = carver.take<float>(nodes);
  sums_ = carver.take<float>(beams);
  last_ = carver.take<int32_t>(beams);
  live_parents_ = carver.take<uint32_t>(beams);
  ones_ = carver.take<uint32_t>(beams);
  candidates_ = carver.take<Candidate>(2 * beams);
  finished_ = carver.take<Finished>(beams);
  path_ = carver.take<uint32_t>(uint64_t{options.max_tokens} + 1);
  banned_ = carver.take<uint32_t>(uint64_t{options.max_tokens} + 1);
  best_ = carver.take<float>(options.max_tokens);
  bytes_ = carver.used();
}

void BeamSearch::start() {
  live_ = 1;
  steps_ = finished_count_ = 0;
  sums_[0] = 0.0f;
  last_[0] = static_cast<int32_t>(options_.start_token);
  live_parents_[0] = 0;
  for (uint32_t i = 0; i < options_.beams; ++i) ones_[i] = 1;
}

uint32_t BeamSearch::forced() const {
  if (steps_ + 1 == options_.max_tokens && options_.forced_last != HEED_NO_TOKEN) return options_.forced_last;
  return steps_ == 0 ? options_.forced_first : HEED_NO_TOKEN;
}

void BeamSearch::trace(uint32_t steps, uint32_t beam) {
  path_[0] = options_.start_token;
  for (uint32_t s = steps; s > 0; --s) {
    path_[s] = tokens_[place(s - 1, beam)];
    beam = parents_[place(s - 1, beam)];
  }
}

void BeamSearch::find_banned() {
  banned_count_ = 0;
  const uint32_t length = steps_ + 1;  // of the path
  const uint32_t n = options_.no_repeat;
  for (uint32_t begin = 0; n > 0 && begin + n <= length; ++begin) {
    uint32_t same = 0;
    while (same + 1 < n && path_[begin + same] == path_[length + 1 - n + same]) ++same;
    if (same + 1 == n) banned_[banned_count_++] = path_[begin + n - 1];
  }
}

bool BeamSearch::is_banned(uint32_t token) const {
  if (token == options_.stop_token && steps_ < options_.min_tokens) return true;
  for (uint32_t i = 0; i < banned_count_; ++i) {
    if (banned_[i] == token) return true;
  }
  for (uint32_t i = 0; i < options_.suppressed_count; ++i) {
    if (options_.suppressed[i] == token) return true;
  }
  return false;
}

// Candidates come in order of hypothesis and id, so one that is not greater stays behind those that are there.
void BeamSearch::offer(const Candidate& candidate) {
  const uint32_t most = 2 * options_.beams;
  if (candidates_count_ < most) ++candidates_count_;
  uint32_t at = candidates_count_ - 1;
  for (; at > 0 && candidate.sum > candidates_[at - 1].sum; --at) candidates_[at] = candidates_[at - 1];
  candidates_[at] = candidate;
}

bool BeamSearch::collect_row(const float* logits, uint32_t cols, float total, uint32_t beam) {
  if (!(total - total == 0.0f)) return false;
  const uint32_t only = forced();
  if (only != HEED_NO_TOKEN) {
    offer({sums_[beam], 0.0f, beam, only});
    return true;
  }
  if (options_.no_repeat > 0) trace(steps_, beam);
  find_banned();
  const uint32_t most = 2 * options_.beams;
  for (uint32_t token = 0; token < cols; ++token) {
    const float probability = logits[token] - total;
    const float sum = sums_[beam] + probability;
    if (candidates_count_ == most && !(sum > candidates_[most - 1].sum)) continue;
    if (!is_banned(token)) offer({sum, probability, beam, token});
  }
  return true;
}

bool BeamSearch::collect(const Logits& logits) {
  candidates_count_ = 0;
  for (uint32_t beam = 0; beam < live_; ++beam) {
    const float* row = logits.data + uint64_t{beam} * logits.stride;
    float total;
    logits.kernels.log_sum_row({row, logits.cols, &total});
    if (!collect_row(row, logits.cols, total, beam)) return false;
  }
  return true;
}

void BeamSearch::keep_finished(const Finished& finished) {
  if (finished_count_ == options_.beams && !(finished.score > finished_[finished_count_ - 1].score)) return;
  if (finished_count_ < options_.beams) ++finished_count_;
  uint32_t at = finished_count_ - 1;
  for (; at > 0 && finished.score > finished_[at - 1].score; --at) finished_[at] = finished_[at - 1];
  finished_[at] = finished;
}

void BeamSearch::choose() {
  const float divisor = power(steps_ + 1, options_.length_penalty);
  live_ = 0;
  for (uint32_t rank = 0; rank < candidates_count_ && live_ < options_.beams; ++rank) {
    const Candidate& candidate = candidates_[rank];
    if (candidate.token == options_.stop_token) {
      if (rank >= options_.beams) continue;
      keep_finished({candidate.sum / divisor, steps_, candidate.beam, 1});
      continue;
    }
    const uint64_t at = place(steps_, live_);
    tokens_[at] = candidate.token;
    parents_[at] = live_parents_[live_] = candidate.beam;
    probabilities_[at] = candidate.probability;
    sums_[live_] = candidate.sum;
    last_[live_++] = static_cast<int32_t>(candidate.token);
  }
  ++steps_;
}

bool BeamSearch::is_better_possible() const {
  if (finished_count_ < options_.beams) return true;
  if (options_.early_stopping == HEED_EARLY_STOPPING_ON || options_.beams == 1) return false;
  // A sum only falls; divided by the length it may still rise.
  const bool longest = options_.early_stopping == HEED_EARLY_STOPPING_NEVER && options_.length_penalty > 0.0f;
  const uint32_t length = longest ? options_.max_tokens : steps_;
  return candidates_[0].sum / power(length, options_.length_penalty) > finished_[finished_count_ - 1].score;
}

bool BeamSearch::step(const Logits& logits) {
  if (!collect(logits)) return false;
  if (candidates_count_ == 0) {  // everything is banned: what lives ends here
    for (uint32_t beam = 0; beam < live_; ++beam) {
      keep_finished({sums_[beam] / power(steps_ > 0 ? steps_ : 1, options_.length_penalty), steps_, beam, 0});
    }
    live_ = 0;
    return true;
  }
  choose();
  if (!is_better_possible()) live_ = 0;
  return true;
}

void BeamSearch::finish(heed_generated* output) {
  for (uint32_t beam = 0; beam < live_; ++beam) {
    keep_finished({sums_[beam] / power(steps_, options_.length_penalty), steps_, beam, 0});
  }
  const Finished& best = finished_[0];
  trace(best.steps, best.beam);
  for (uint32_t s = best.steps, beam = best.beam; s > 0; --s) {
    best_[s - 1] = probabilities_[place(s - 1, beam)];
    beam = parents_[place(s - 1, beam)];
  }
  *output = {path_ + 1, best_, best.steps, best.stopped, best.score};
}

}  // namespace heed
