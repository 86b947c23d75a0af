// SPDX-License-Identifier: Apache-2.0
#include "cli/passes.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <numeric>
#include <system_error>
#include <thread>

#include "cli/shapes.h"
#include "error.h"

namespace heed::tools {
namespace {

constexpr uint32_t kPassRows = 512;
constexpr size_t kPassesForOwnSession = 8;  // for each thread: the last of them may leave the others idle

uint32_t longest_input(const Sequence& sequence) {
  uint32_t rows = 0;
  for (const InputData& input : sequence) rows = std::max(rows, input.rows);
  return rows;
}

// Rows of a pass are counted where they are most: on the longest input.
uint64_t pass_rows(const std::vector<Sequence>& sequences, const std::vector<uint32_t>& pass, size_t inputs) {
  uint64_t most = 0;
  for (size_t input = 0; input < inputs; ++input) {
    uint64_t rows = 0;
    for (const uint32_t index : pass) rows += sequences[index][input].rows;
    most = std::max(most, rows);
  }
  return most;
}

// Rows that a sequence has on a graph's axis.
uint32_t axis_rows(const schema::Graph& graph, const Sequence& sequence, uint16_t axis) {
  uint32_t rows = 0;
  for (uint32_t i = 0; i < sequence.size(); ++i) {
    if (graph.inputs()->Get(i)->axis() == axis) rows = std::max(rows, sequence[i].rows);
  }
  return rows;
}

// An output with room for what every sequence gives.
OutputData prepare(const Model& model, const std::vector<Sequence>& sequences, uint32_t index, const ValueRecord& value) {
  OutputData data;
  data.name = model.graph().outputs()->Get(index)->name()->str();
  data.features = value.features;
  for (const Sequence& sequence : sequences) {
    data.row_begin.push_back(data.rows() + (value.ragged ? axis_rows(model.graph(), sequence, value.axis) : value.rows));
  }
  data.values.resize(data.rows() * data.features);
  return data;
}

// Copies the rows of a pass to where its sequences have them.
void collect(const heed_output& from, const std::vector<uint32_t>& pass, OutputData& data) {
  const float* row = from.data;
  for (const uint32_t sequence : pass) {
    for (uint64_t r = data.row_begin[sequence]; r < data.row_begin[sequence + 1]; ++r, row += from.stride) {
      std::copy_n(row, data.features, data.values.begin() + static_cast<ptrdiff_t>(r * data.features));
    }
  }
}

// How far a long list of passes is, on a terminal only.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total), shown_(total >= kLeast && ::isatty(STDERR_FILENO)) {}
  ~Progress() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(size_t pass) const {
    if (shown_) std::fprintf(stderr, "\rheed: pass %zu of %zu", pass, total_);
  }

 private:
  static constexpr size_t kLeast = 8;
  size_t total_;
  bool shown_;
};

}  // namespace

Batch::Batch(const schema::Graph& graph, const std::vector<Sequence>& sequences, const std::vector<uint32_t>& pass)
    : graph_(graph.name()->c_str()), sequences_(pass.size()) {
  parts_.resize(graph.inputs()->size());
  for (uint32_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    for (const uint32_t index : pass) {
      const InputData& input = sequences[index][i];
      part.joined.ids.insert(part.joined.ids.end(), input.ids.begin(), input.ids.end());
      part.joined.values.insert(part.joined.values.end(), input.values.begin(), input.values.end());
      part.joined.rows += input.rows;
      part.lengths.push_back(input.rows);
    }
    if (part.joined.rows == 0) continue;
    const schema::GraphInput& declared = *graph.inputs()->Get(i);
    const bool ids = declared.type() == schema::ElementType::i32;
    const void* data = ids ? static_cast<const void*>(part.joined.ids.data()) : part.joined.values.data();
    inputs_.push_back({declared.name()->c_str(), data, part.joined.rows, part.lengths.data()});
  }
}

heed_pass Batch::pass() const {
  heed_pass pass{};
  pass.size = sizeof(pass);
  pass.graph = graph_;
  pass.sequences = static_cast<uint32_t>(sequences_);
  pass.inputs_count = static_cast<uint32_t>(inputs_.size());
  pass.inputs = inputs_.data();
  return pass;
}

Schedule make_schedule(const Model& model, const std::vector<Sequence>& sequences, uint32_t rows, const char* place) {
  std::vector<uint32_t> order(sequences.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return longest_input(sequences[a]) > longest_input(sequences[b]); });

  Schedule schedule;
  const uint32_t longest = longest_input(sequences[order[0]]);
  const uint32_t most = model.max_sequence_rows();
  const std::string who = model.path() + ": " + place + (sequences.size() > 1 ? " " + std::to_string(order[0] + 1) : "") + " has " + std::to_string(longest) + " rows";
  if (longest > most) throw Error(who + ", one sequence of this model may have " + std::to_string(most));
  if (rows && longest > rows) throw Error(who + ", --rows allows " + std::to_string(rows));

  const uint32_t budget = rows ? rows : std::max(kPassRows, longest);
  const size_t inputs = model.graph().inputs()->size();
  for (const uint32_t index : order) {
    if (!schedule.passes.empty()) {
      std::vector<uint32_t>& pass = schedule.passes.back();
      pass.push_back(index);
      if (pass_rows(sequences, pass, inputs) <= budget) continue;
      pass.pop_back();
    }
    schedule.passes.push_back({index});
  }
  schedule.extent = {rows, 0, std::min(rows ? rows : longest, most)};
  for (const auto& pass : schedule.passes) {
    schedule.extent.sequences = std::max(schedule.extent.sequences, static_cast<uint32_t>(pass.size()));
    if (!rows) schedule.extent.rows = std::max(schedule.extent.rows, static_cast<uint32_t>(pass_rows(sequences, pass, inputs)));
  }
  return schedule;
}

Sessions::Sessions(const Model& model, const SessionFlags& flags, const Schedule& schedule) {
  SessionFlags each = flags;
  size_t count = 1;
  if (!flags.arena_bytes && schedule.passes.size() >= kPassesForOwnSession * flags.threads) {
    count = flags.threads;
    each.threads = 1;
  }
  const heed_limits limits = make_limits(model, each, schedule.extent);
  for (size_t i = 0; i < count; ++i) all_.push_back(std::make_unique<Session>(model, limits, each));
}

std::vector<OutputData> run_all(Sessions& sessions, const Model& model, const std::vector<Sequence>& sequences, const Schedule& schedule) {
  const std::vector<ValueRecord> values = graph_facts(model, model.graph_place(), sessions[0].limits()).values;
  std::vector<OutputData> outputs;
  for (uint32_t o = 0; o < model.graph().outputs()->size(); ++o) {
    outputs.push_back(prepare(model, sequences, o, values[model.graph().outputs()->Get(o)->value()]));
  }
  const Progress progress(schedule.passes.size());
  std::atomic<size_t> next{0};
  std::vector<std::exception_ptr> errors(sessions.count());
  // A session takes the next pass until there is none, or one of them has failed. Passes write different rows of the outputs.
  const auto work = [&](size_t index) {
    try {
      for (size_t taken = next++; taken < schedule.passes.size(); taken = next++) {
        progress.show(taken + 1);
        const std::vector<uint32_t>& pass = schedule.passes[taken];
        const Batch batch(model.graph(), sequences, pass);
        sessions[index].run(batch.pass());
        for (uint32_t o = 0; o < outputs.size(); ++o) collect(sessions[index].output(o), pass, outputs[o]);
      }
    } catch (...) {
      errors[index] = std::current_exception();
      next = schedule.passes.size();
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (size_t index = 1; index < sessions.count(); ++index) threads.emplace_back(work, index);
    } catch (const std::system_error&) {
      // The system has no more threads: those that run do the work.
    }
    work(0);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return outputs;
}

}  // namespace heed::tools
