// Any bytes as a model file: opened, planned, run and asked for tokens, which must end and touch nothing that is not theirs.
// SPDX-License-Identifier: Apache-2.0
//
// Under libFuzzer in preset fuzz; elsewhere mutate.cpp calls it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generate.h"
#include "heed/heed.h"
#include "support/model_builder.h"

namespace heed::testing {
namespace {

// Legal files may ask for more than a fuzzer has time for.
constexpr uint64_t kMostArena = 1 << 20;
constexpr uint64_t kMostMultiplyAdds = 1 << 24;
constexpr uint64_t kGuard = 64;
constexpr uint8_t kPoison = 0xff;

[[noreturn]] void fail() { std::abort(); }

uint64_t multiply_adds(const heed_model& model, uint64_t rows) {
  uint64_t all = 0;
  for (const auto* weight : *static_cast<const schema::Model*>(model.root)->weights()) all += rows * weight->rows() * weight->cols();
  return all;
}

// Inputs of a graph: small ids, or small numbers, all of one length.
struct Inputs {
  std::vector<int32_t> ids;
  std::vector<float> numbers;
  std::vector<std::string> names;
  std::vector<heed_input> inputs;

  Inputs(const schema::Graph& graph, uint32_t rows) : ids(rows) {
    for (uint32_t i = 0; i < rows; ++i) ids[i] = static_cast<int32_t>(i % 4);
    uint64_t features = 1;
    for (const auto* input : *graph.inputs()) features = std::max<uint64_t>(features, input->features());
    if (features * rows > kMostArena) return;
    for (uint64_t i = 0; i < features * rows; ++i) numbers.push_back(0.25f * static_cast<float>(i % 7) - 0.5f);
    names.reserve(graph.inputs()->size());
    for (const auto* input : *graph.inputs()) {
      names.push_back(input->name()->str());
      const void* data = input->type() == schema::ElementType::i32 ? static_cast<const void*>(ids.data()) : numbers.data();
      inputs.push_back({names.back().c_str(), data, rows, nullptr});
    }
  }
};

void read_outputs(const heed_session& session) {
  heed_output output;
  volatile float sum = 0;
  for (uint32_t i = 0; heed_get_output(&session, i, &output) == HEED_OK; ++i) {
    for (uint32_t row = 0; row < output.rows; ++row) {
      for (uint32_t f = 0; f < output.features; ++f) sum = sum + output.data[uint64_t{row} * output.stride + f];
    }
  }
}

void run_graph(const schema::Graph& graph, uint32_t rows, heed_session& session) {
  const std::string name = graph.name()->str();
  heed_pass pass{};
  pass.size = sizeof pass;
  pass.graph = name.c_str();
  // One row of each input may be all that it takes.
  for (uint32_t count : {rows, 1u}) {
    const Inputs given(graph, count);
    pass.inputs_count = static_cast<uint32_t>(given.inputs.size());
    pass.inputs = given.inputs.data();
    heed_diagnostic diagnostic;
    if (heed_run(&session, &pass, &diagnostic) == HEED_OK) read_outputs(session);
  }
}

// Every graph, last one first (an encoder stands behind its decoder), before and after its states are moved and emptied.
void run_all(const heed_model& model, const heed_limits& limits, heed_session& session) {
  const auto& graphs = *static_cast<const schema::Model*>(model.root)->graphs();
  const uint32_t parents[] = {1, 1};
  for (int again = 0; again < 2; ++again) {
    for (uint32_t i = graphs.size(); i-- > 0;) run_graph(*graphs.Get(i), limits.max_rows / 2, session);
    const heed_status moved = heed_reorder(&session, parents, 2);
    if (moved != HEED_OK) fail();
    run_graph(*graphs.Get(0), 1, session);
    if (again == 0 && heed_reset(&session) != HEED_OK) fail();
  }
}

// An output as it would be for a person, if the model can make one.
void generate(const heed_model& model, heed_session& session) {
  heed_generate_options options;
  heed_default_generate_options(&model, &options);
  options.max_tokens = std::min(options.max_tokens, 9u);
  options.no_repeat = 2;
  uint64_t bytes = 0;
  if (heed_generate_bytes(&options, &bytes, nullptr) != HEED_OK) return;
  AlignedBytes block(bytes + kGuard, kPoison);
  const int32_t source[] = {1, 0, 2};
  const heed_generation task{&options, source, 3, block.data(), bytes};
  heed_generated output;
  heed_diagnostic diagnostic;
  if (heed_generate(&session, &task, &output, &diagnostic) != HEED_OK) return;
  if (output.count > options.max_tokens) fail();
  for (uint64_t i = 0; i < kGuard; ++i) {
    if (block[bytes + i] != kPoison) fail();
  }
  const heed_ids ids{output.tokens, output.count, nullptr};
  uint64_t needed = 0;
  if (heed_detokenize(&model, &ids, nullptr, 0, &needed) != HEED_BUFFER_TOO_SMALL) return;
  std::string text(needed, ' ');
  if (heed_detokenize(&model, &ids, text.data(), needed, &needed) != HEED_OK) fail();
}

void plan_and_run(const heed_model& model, uint32_t precision) {
  heed_limits limits;
  heed_default_limits(&model, &limits);
  limits.max_sequence_rows = std::min(limits.max_sequence_rows, 5u);
  limits.max_rows = 2 * limits.max_sequence_rows;
  limits.max_sequences = 2;
  limits.max_context = std::min(limits.max_context, 9u);
  limits.tile_rows = 8;
  limits.precision = precision;
  heed_memory memory;
  heed_diagnostic diagnostic;
  if (heed_required_bytes(&model, &limits, &memory, &diagnostic) != HEED_OK || memory.total_bytes > kMostArena) return;
  AlignedBytes block(memory.total_bytes + kGuard, kPoison);
  heed_session session;
  if (heed_plan(&model, &limits, block.data(), memory.total_bytes - 1, nullptr, &session, &diagnostic) != HEED_ARENA_TOO_SMALL) fail();
  if (heed_plan(&model, &limits, block.data(), memory.total_bytes, nullptr, &session, &diagnostic) != HEED_OK) fail();
  if (multiply_adds(model, limits.max_rows) < kMostMultiplyAdds) {
    run_all(model, limits, session);
    generate(model, session);
  }
  for (uint64_t i = 0; i < kGuard; ++i) {
    if (block[memory.total_bytes + i] != kPoison) fail();
  }
}

void tokenize(const heed_model& model) {
  constexpr std::string_view kText = "A cat sat on the mats. I don't love-moi ''t'\xe2\x80\x99 \xff \xc3\x89t\xc3\xa9 \xea\xb0\x81";
  heed_token tokens[64];
  uint32_t count = 0;
  if (heed_tokenize(&model, kText.data(), kText.size(), 0, tokens, 64, &count) != HEED_OK) return;
  volatile char read = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t bytes = 0;
    const char* piece = heed_token_piece(&model, tokens[i].id, &bytes);
    for (uint32_t k = 0; piece && k < bytes; ++k) read = static_cast<char>(read ^ piece[k]);
  }
}

}  // namespace

// Whether the file opened. Ends the program where something is wrong.
bool try_file(const uint8_t* data, size_t size) {
  const AlignedBytes file(data, data + size);  // exactly as long, so that a sanitizer sees a byte too far
  heed_diagnostic diagnostic;
  heed_model checked, model;
  const bool whole = heed_open(file.data(), file.size(), HEED_OPEN_CHECK_WEIGHTS, &checked, &diagnostic) == HEED_OK;
  const bool opened = heed_open(file.data(), file.size(), 0, &model, &diagnostic) == HEED_OK;
  if (whole && !opened) fail();
  if (!opened) return false;
  for (uint32_t precision : {HEED_PRECISION_INT8, HEED_PRECISION_F32}) plan_and_run(model, precision);
  tokenize(model);
  return true;
}

}  // namespace heed::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heed::testing;
  try_file(data, size);
  // The same with the right checksum, or nothing behind that would be tried.
  AlignedBytes file(data, data + size);
  if (size < 4 || table_bytes(file) + 8 > size) return 0;
  reseal(file);
  try_file(file.data(), file.size());
  return 0;
}
