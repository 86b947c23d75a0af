// Checks of a pass: names, rows, lengths, limits.
// SPDX-License-Identifier: Apache-2.0
#include "session/pass.h"

#include <cstring>

#include "model/diagnostic.h"

namespace heed {
namespace {

const schema::Graph& graph_of(const SessionView& session, uint32_t graph) {
  return *root(session.model).graphs()->Get(graph);
}

bool is_called(const flatbuffers::String& stored, const char* name) {
  return stored.size() == std::strlen(name) && std::memcmp(stored.data(), name, stored.size()) == 0;
}

heed_status find_graph(const SessionView& session, const char* name, uint32_t* index, heed_diagnostic* diagnostic) {
  const auto& graphs = *root(session.model).graphs();
  for (*index = 0; *index < graphs.size(); ++*index) {
    if (name == nullptr || is_called(*graphs.Get(*index)->name(), name)) return HEED_OK;
  }
  return refuse(diagnostic, HEED_INVALID_ARGUMENT, "name of a graph");
}

// Rows and lengths of one axis, as the first input that has it says.
class Axes {
 public:
  Axes(const SessionView& session, uint32_t sequences, heed_diagnostic* diagnostic)
      : session_(session), sequences_(sequences), diagnostic_(diagnostic) {}

  bool known(uint32_t axis) const { return (known_ >> axis & 1) != 0; }
  uint32_t most_rows() const { return most_rows_; }

  heed_status add(uint32_t axis, const heed_input& input, uint32_t most) {
    const heed_limits& limits = session_.header.limits;
    if (input.rows == 0) return refused(HEED_INVALID_ARGUMENT, "rows", 0, 1);
    if (input.rows > limits.max_rows) return refused(HEED_TOO_LONG, "rows", input.rows, limits.max_rows);
    if (heed_status s = known(axis) ? compare(axis, input) : define(axis, input)) return s;
    for (uint32_t s = 0; s < sequences_; ++s) {
      const uint32_t length = rows_[s + 1] - rows_[s];
      if (length > most) return refused(HEED_TOO_LONG, "rows of a sequence", length, most);
    }
    return HEED_OK;
  }

 private:
  heed_status define(uint32_t axis, const heed_input& input) {
    if (input.lengths == nullptr && sequences_ != 1) return refused(HEED_INVALID_ARGUMENT, "lengths missing", -1, -1);
    rows_ = session_.row_begin(axis);
    uint32_t* slots = session_.slot_begin(axis);
    rows_[0] = slots[0] = 0;
    for (uint32_t s = 0; s < sequences_; ++s) {
      const uint32_t length = input.lengths ? input.lengths[s] : input.rows;
      if (length == 0) return refused(HEED_INVALID_ARGUMENT, "length", 0, 1);
      if (length > input.rows - rows_[s]) return refused(HEED_INVALID_ARGUMENT, "sum of lengths", -1, input.rows);
      rows_[s + 1] = rows_[s] + length;
      slots[s + 1] = slots[s] + static_cast<uint32_t>(padded_keys(length));
    }
    if (rows_[sequences_] != input.rows) {
      return refused(HEED_INVALID_ARGUMENT, "sum of lengths", rows_[sequences_], input.rows);
    }
    known_ |= 1u << axis;
    most_rows_ = input.rows > most_rows_ ? input.rows : most_rows_;
    return HEED_OK;
  }

  heed_status compare(uint32_t axis, const heed_input& input) {
    rows_ = session_.row_begin(axis);
    if (input.rows != rows_[sequences_]) {
      return refused(HEED_INVALID_ARGUMENT, "rows of inputs with one axis", input.rows, rows_[sequences_]);
    }
    for (uint32_t s = 0; input.lengths != nullptr && s < sequences_; ++s) {
      const uint32_t length = rows_[s + 1] - rows_[s];
      if (input.lengths[s] != length) {
        return refused(HEED_INVALID_ARGUMENT, "lengths of inputs with one axis", input.lengths[s], length);
      }
    }
    return HEED_OK;
  }

  heed_status refused(heed_status status, const char* what, int64_t found, int64_t expected) const {
    return refuse(diagnostic_, status, what, found, expected);
  }

  const SessionView& session_;
  uint32_t sequences_;
  heed_diagnostic* diagnostic_;
  uint32_t known_ = 0;
  uint32_t most_rows_ = 0;
  uint32_t* rows_ = nullptr;
};

// Finds the graph input that each given one is for.
heed_status match_inputs(const schema::Graph& graph, const heed_pass& given, Pass* pass, heed_diagnostic* diagnostic) {
  if (given.inputs == nullptr && given.inputs_count > 0) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "inputs");
  for (uint32_t i = 0; i < given.inputs_count; ++i) {
    const heed_input& input = given.inputs[i];
    uint32_t at = 0;
    while (at < graph.inputs()->size() && input.name && !is_called(*graph.inputs()->Get(at)->name(), input.name)) ++at;
    if (input.name == nullptr || at == graph.inputs()->size()) {
      return refuse(diagnostic, HEED_INVALID_ARGUMENT, "name of an input", i);
    }
    diagnostic->input = static_cast<int32_t>(at);
    if (pass->inputs[at] != nullptr) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "input given twice");
    if (input.data == nullptr && !graph.inputs()->Get(at)->optional()) {
      return refuse(diagnostic, HEED_INVALID_ARGUMENT, "data of an input");
    }
    if (reinterpret_cast<uintptr_t>(input.data) % 4 != 0) return refuse(diagnostic, HEED_MISALIGNED, "data of an input");
    pass->inputs[at] = &input;
    diagnostic->input = -1;
  }
  return HEED_OK;
}

uint32_t clean(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffffffu;
  constexpr uint32_t kLeast = (127 - 51) << 23;  // kLeastStored
  if (magnitude < kLeast) return 0;
  return magnitude > 0x7f800000u ? 0x7fc00000u : bits;
}

void copy_rows(const heed_input* input, const Tensor& to) {
  for (uint32_t r = 0; r < to.rows; ++r) {
    float* out = to.row(r);
    if (input == nullptr || input->data == nullptr) {
      std::memset(out, 0, to.features * sizeof(float));
      continue;
    }
    const uint8_t* in = static_cast<const uint8_t*>(input->data) + uint64_t{r} * to.features * sizeof(float);
    for (uint32_t c = 0; c < to.features; ++c) {
      uint32_t bits;
      std::memcpy(&bits, in + uint64_t{c} * 4, sizeof bits);
      bits = clean(bits);
      std::memcpy(out + c, &bits, sizeof bits);
    }
  }
}

}  // namespace

heed_status prepare_pass(const SessionView& session, const heed_pass& given, Pass* pass, heed_diagnostic* diagnostic) {
  if (given.size != sizeof given) {
    return refuse(diagnostic, HEED_INVALID_ARGUMENT, "size", given.size, sizeof given);
  }
  if (heed_status s = find_graph(session, given.graph, &pass->graph, diagnostic)) return s;
  const heed_limits& limits = session.header.limits;
  pass->sequences = given.sequences == 0 ? 1 : given.sequences;
  if (pass->sequences > limits.max_sequences) {
    return refuse(diagnostic, HEED_TOO_LONG, "sequences", pass->sequences, limits.max_sequences);
  }
  pass->beams = given.beams == 0 ? 1 : given.beams;
  if (given.beams > limits.beams) return refuse(diagnostic, HEED_TOO_LONG, "beams", given.beams, limits.beams);
  const schema::Graph& graph = graph_of(session, pass->graph);
  if (heed_status s = match_inputs(graph, given, pass, diagnostic)) return s;
  Axes axes(session, pass->sequences, diagnostic);
  for (uint32_t i = 0; i < given.inputs_count; ++i) {
    uint32_t at = 0;
    while (pass->inputs[at] != &given.inputs[i]) ++at;
    diagnostic->input = static_cast<int32_t>(at);
    const schema::GraphInput& input = *graph.inputs()->Get(at);
    const uint32_t most = session.values(pass->graph)[input.value()].rows;
    if (heed_status s = axes.add(input.axis(), given.inputs[i], most)) return s;
  }
  for (uint32_t i = 0; i < graph.inputs()->size(); ++i) {
    diagnostic->input = static_cast<int32_t>(i);
    const schema::GraphInput& input = *graph.inputs()->Get(i);
    const bool missing = pass->inputs[i] == nullptr && !input.optional();
    if (missing || !axes.known(input.axis())) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "input missing");
  }
  diagnostic->input = -1;
  pass->tile_rows = pass_tile_rows(limits, axes.most_rows());
  pass->tap = given.tap;
  pass->tap_context = given.tap_context;
  session.header.sequences = pass->sequences;
  return HEED_OK;
}

void copy_inputs(const SessionView& session, const Pass& pass) {
  const auto& inputs = *graph_of(session, pass.graph).inputs();
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const Tensor tensor = value_tensor(session, pass.graph, inputs.Get(i)->value());
    if (tensor.data != nullptr) copy_rows(pass.inputs[i], tensor);
  }
}

}  // namespace heed
