// Runs sequences on a session: those of like length together, without padding; outputs come back in the order given.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/sequences.h"
#include "cli/session.h"

namespace heed::tools {

// One output of all sequences in the order they were given, [rows of all, features] without gaps.
struct OutputData {
  std::string name;
  uint32_t features = 0;
  std::vector<uint64_t> row_begin = {0};  // [sequences + 1]
  std::vector<float> values;

  uint64_t rows() const { return row_begin.back(); }
  uint64_t sequences() const { return row_begin.size() - 1; }
  std::span<const float> of(uint64_t sequence) const {
    return {values.data() + row_begin[sequence] * features, values.data() + row_begin[sequence + 1] * features};
  }
};

// Which sequences run together, and what a session needs for that.
struct Schedule {
  std::vector<std::vector<uint32_t>> passes;  // indices of sequences
  Extent extent;
};
// Passes of at most --rows rows, or of 512 and as many as the longest sequence has. Throws Error if one is longer
// than --rows or than the model's bound; `place` names a sequence by its index.
Schedule make_schedule(const Model& model, const std::vector<Sequence>& sequences, uint32_t rows, const char* place);

// The sequences of one pass, one after another: what its heed_pass points to.
class Batch {
 public:
  Batch(const schema::Graph& graph, const std::vector<Sequence>& sequences, const std::vector<uint32_t>& pass);
  heed_pass pass() const;

 private:
  struct Part {
    InputData joined;
    std::vector<uint32_t> lengths;
  };
  const char* graph_;
  size_t sequences_;
  std::vector<Part> parts_;
  std::vector<heed_input> inputs_;
};

// What runs a schedule: one session with all threads, or, where there are many passes, one with an arena of its own for each
// thread, so that none waits for another at the end of each phase. With --arena always one.
class Sessions {
 public:
  Sessions(const Model& model, const SessionFlags& flags, const Schedule& schedule);
  size_t count() const { return all_.size(); }
  Session& operator[](size_t index) { return *all_[index]; }
  // Of all of them.
  uint64_t arena_bytes() const { return count() * all_[0]->arena_bytes(); }

 private:
  std::vector<std::unique_ptr<Session>> all_;
};

std::vector<OutputData> run_all(Sessions& sessions, const Model& model, const std::vector<Sequence>& sequences, const Schedule& schedule);

}  // namespace heed::tools
