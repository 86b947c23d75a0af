// From a node and the session's records to tensors, workspace and scratch.
// SPDX-License-Identifier: Apache-2.0
#include "session/step.h"

#include "session/states.h"

namespace heed {
namespace {

const schema::Graph& graph_of(const SessionView& session, const Pass& pass) {
  return *root(session.model).graphs()->Get(pass.graph);
}

// The graph input that makes a value, or -1.
int32_t input_of(const schema::Graph& graph, uint16_t value) {
  for (uint32_t i = 0; i < graph.inputs()->size(); ++i) {
    if (graph.inputs()->Get(i)->value() == value) return static_cast<int32_t>(i);
  }
  return -1;
}

Tensor tensor_of(const SessionView& session, const Pass& pass, uint16_t value) {
  Tensor tensor = value_tensor(session, pass.graph, value);
  if (session.values(pass.graph)[value].ids) {
    const heed_input* input = pass.inputs[input_of(graph_of(session, pass), value)];
    tensor.ids = input ? static_cast<const int32_t*>(input->data) : nullptr;
  }
  return tensor;
}

}  // namespace

Tensor value_tensor(const SessionView& session, uint32_t graph, uint16_t value) {
  const ValueRecord& record = session.values(graph)[value];
  Tensor tensor;
  tensor.features = record.features;
  tensor.stride = row_stride(record.features);
  if (record.unit != kNowhere) {
    tensor.data = reinterpret_cast<float*>(session.transient + uint64_t{record.unit} * kAlignment);
  }
  const uint32_t sequences = session.header.sequences;
  if (record.ragged) {
    tensor.row_begin = session.row_begin(record.axis);
    tensor.slot_begin = session.slot_begin(record.axis);
  } else {
    tensor.sequence_rows = record.rows;
  }
  tensor.rows = tensor.begin(sequences);
  return tensor;
}

// Scratch lies at the end of the transient part, workspace before it: planned values end before either.
PreparedStep prepare_step(const SessionView& session, const Kernels& kernels, const Pass& pass, uint32_t node_index) {
  const schema::Node& node = *graph_of(session, pass).nodes()->Get(node_index);
  const NodeRecord& record = session.nodes(pass.graph)[node_index];
  const heed_limits& limits = session.header.limits;
  const uint64_t scratch_stride = guarded(record.scratch_units) * kAlignment;
  const uint64_t workspace_bytes = uint64_t{record.workspace_units} * kAlignment;
  uint8_t* end = session.transient + uint64_t{session.header.transient_units} * kAlignment;
  uint8_t* scratch = end - scratch_stride * limits.workers;
  uint8_t* workspace = scratch - guarded(record.workspace_units) * kAlignment;
  PreparedStep prepared{{session.model, node, limits, kernels, {}, {}, node.inputs()->size(), pass.sequences,
                         pass.tile_rows, workspace + kGuardUnits * kAlignment, {}, node_index, pass.tap, pass.tap_context},
                        find_op(node.op()),
                        workspace_bytes,
                        scratch + kGuardUnits * kAlignment,
                        scratch_stride,
                        uint64_t{record.scratch_units} * kAlignment};
  for (uint32_t i = 0; i < node.inputs()->size(); ++i) {
    prepared.step.in[i] = tensor_of(session, pass, node.inputs()->Get(i));
  }
  for (uint32_t i = 0; i < node.outputs()->size(); ++i) {
    prepared.step.out[i] = tensor_of(session, pass, node.outputs()->Get(i));
  }
  if (node.state() >= 0) prepared.step.state = state_view(session, static_cast<uint32_t>(node.state()), pass.beams);
  return prepared;
}

heed_status check_inputs(const SessionView& session, const Kernels& kernels, const Pass& pass,
                         heed_diagnostic* diagnostic) {
  const schema::Graph& graph = graph_of(session, pass);
  for (uint32_t i = 0; i < graph.nodes()->size(); ++i) {
    const PreparedStep prepared = prepare_step(session, kernels, pass, i);
    if (prepared.op->check_input == nullptr) continue;
    if (heed_status s = prepared.op->check_input(prepared.step, diagnostic)) {
      diagnostic->node = static_cast<int32_t>(i);
      if (diagnostic->value >= 0) diagnostic->input = input_of(graph, static_cast<uint16_t>(diagnostic->value));
      return s;
    }
  }
  return HEED_OK;
}

}  // namespace heed
