// What is measured alike for every kind of model: flags, repetition, times.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"

namespace heed::tools {

constexpr uint64_t kNoiseSeed = 1;

struct BenchFlags {
  std::string path;
  double seconds = 2.5;
  bool json = false;
  std::optional<uint32_t> generate;
  SessionFlags session;
};

struct Measured {
  uint64_t runs;
  double min_ms;
  double median_ms;
};

// Times `action` at least 50 times and for `seconds`, after a fifth of that to warm up, with `between` before each.
template <class Action, class Between>
Measured measure(double seconds, Action action, Between between) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kLeastRuns = 50;
  const auto seconds_since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto repeat = [&](size_t least, double at_least) {
    std::vector<double> times;
    const Clock::time_point begin = Clock::now();
    while (times.size() < least || seconds_since(begin) < at_least) {
      between();
      const Clock::time_point start = Clock::now();
      action();
      times.push_back(seconds_since(start) * 1e3);
    }
    return times;
  };
  repeat(kLeastRuns / 5, seconds / 5);
  std::vector<double> times = repeat(kLeastRuns, seconds);
  std::sort(times.begin(), times.end());
  return {times.size(), times.front(), times[times.size() / 2]};
}

// The least of a few, in ms: mapping and opening the file and planning a session.
double open_plan_ms(const BenchFlags& flags, const heed_limits& limits);

// One input of --rows ids and an output of exactly --generate tokens.
void bench_translator(const Model& model, const BenchFlags& flags);

}  // namespace heed::tools
