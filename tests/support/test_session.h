// A model opened, planned and run, with poison around its arena: the tests' short way through the C API.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "heed_host.h"
#include "support/model_builder.h"

namespace heed::testing {

struct Options {
  uint32_t rows = 0;       // of a pass, 0: as many as one sequence may have
  uint32_t sequences = 1;
  uint32_t workers = 1;
  uint32_t tile_rows = 32;
  uint32_t precision = HEED_PRECISION_AUTO;
  const char* isa = nullptr;
  uint32_t context = 0;    // 0: the model's own
  uint32_t beams = 1;
  uint8_t fill = 0xff;     // what the arena holds before it is planned: 0xff bytes are NaN as floats
};

struct Output {
  uint32_t rows = 0;
  uint32_t features = 0;
  std::vector<float> values;
  float at(uint32_t r, uint32_t c) const { return values[size_t{r} * features + c]; }
  bool operator==(const Output& other) const {
    return rows == other.rows && features == other.features &&
           std::memcmp(values.data(), other.values.data(), values.size() * sizeof(float)) == 0;
  }
};

inline heed_input ids_input(const char* name, const std::vector<int32_t>& ids, const uint32_t* lengths = nullptr) {
  return {name, ids.data(), static_cast<uint32_t>(ids.size()), lengths};
}
inline heed_input floats_input(const char* name, const Plain& plain, const uint32_t* lengths = nullptr) {
  return {name, plain.values.data(), plain.rows, lengths};
}

inline heed_limits limits_for(const heed_model& model, const Options& options) {
  heed_limits limits;
  heed_default_limits(&model, &limits);
  if (options.rows > 0) limits.max_rows = options.rows;
  limits.max_sequences = options.sequences;
  limits.workers = options.workers;
  limits.tile_rows = options.tile_rows;
  limits.precision = options.precision;
  limits.beams = options.beams;
  if (options.context > 0) limits.max_context = options.context;
  return limits;
}

class TestSession {
 public:
  static constexpr size_t kGuard = 256;

  explicit TestSession(const AlignedBytes& file, const Options& options = {}) : pool_(options.workers) {
    heed_diagnostic diagnostic{};
    const heed_status opened =
        heed_open(file.data(), file.size(), HEED_OPEN_CHECK_WEIGHTS, &model, &diagnostic);
    INFO("open: " << heed_status_text(opened) << ", " << (diagnostic.what ? diagnostic.what : ""));
    REQUIRE(opened == HEED_OK);
    limits = limits_for(model, options);
    const heed_status measured = heed_required_bytes(&model, &limits, &memory, &diagnostic);
    INFO("required_bytes: " << heed_status_text(measured) << ", " << (diagnostic.what ? diagnostic.what : ""));
    REQUIRE(measured == HEED_OK);
    block_.assign(memory.total_bytes + 2 * kGuard, options.fill);
    platform = pool_.platform();
    if (options.isa != nullptr) platform.isa = options.isa;
    const heed_status planned =
        heed_plan(&model, &limits, arena(), memory.total_bytes, &platform, &session, &diagnostic);
    INFO("plan: " << heed_status_text(planned) << ", " << (diagnostic.what ? diagnostic.what : ""));
    REQUIRE(planned == HEED_OK);
    fill_ = options.fill;
  }
  ~TestSession() { CHECK(guards_intact()); }
  TestSession(const TestSession&) = delete;

  uint8_t* arena() { return block_.data() + kGuard; }

  heed_status run_status(const std::vector<heed_input>& inputs, uint32_t sequences = 1,
                         heed_diagnostic* diagnostic = nullptr, const char* graph = nullptr) {
    heed_pass pass{};
    pass.size = sizeof pass;
    pass.graph = graph;
    pass.sequences = sequences;
    pass.inputs_count = static_cast<uint32_t>(inputs.size());
    pass.inputs = inputs.data();
    pass.tap = tap;
    pass.tap_context = tap_context;
    pass.beams = beams;
    return heed_run(&session, &pass, diagnostic);
  }

  Output run(const std::vector<heed_input>& inputs, uint32_t sequences = 1, const char* graph = nullptr) {
    heed_diagnostic diagnostic{};
    const heed_status status = run_status(inputs, sequences, &diagnostic, graph);
    INFO("run: " << heed_status_text(status) << ", " << (diagnostic.what ? diagnostic.what : ""));
    REQUIRE(status == HEED_OK);
    return output(0);
  }

  // For threads, where Catch2's macros may not be used: empty if the run failed.
  Output run_in_thread(const std::vector<heed_input>& inputs) {
    heed_output view;
    if (run_status(inputs) != HEED_OK || heed_get_output(&session, 0, &view) != HEED_OK) return {};
    return copy(view);
  }

  Output output(uint32_t index) const {
    heed_output view;
    REQUIRE(heed_get_output(&session, index, &view) == HEED_OK);
    return copy(view);
  }

  static Output copy(const heed_output& view) {
    Output out{view.rows, view.features, {}};
    for (uint32_t r = 0; r < view.rows; ++r) {
      out.values.insert(out.values.end(), view.data + size_t{r} * view.stride,
                        view.data + size_t{r} * view.stride + view.features);
    }
    return out;
  }

  bool guards_intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (block_[i] != fill_ || block_[block_.size() - 1 - i] != fill_) return false;
    }
    return true;
  }

  heed_model model{};
  heed_limits limits{};
  heed_memory memory{};
  heed_platform platform{};
  heed_session session{};
  heed_tap tap = nullptr;
  void* tap_context = nullptr;
  uint32_t beams = 0;

 private:
  host::ThreadPool pool_;
  AlignedBytes block_;
  uint8_t fill_ = 0;
};

// Every instruction set that this machine runs.
inline std::vector<std::string> runnable_isas() {
  std::vector<std::string> names;
  int32_t runs = 0;
  for (uint32_t i = 0; const char* name = heed_isa_at(i, &runs); ++i) {
    if (runs) names.push_back(name);
  }
  return names;
}

}  // namespace heed::testing
