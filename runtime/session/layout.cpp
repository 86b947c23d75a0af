// First fit over a bounded set of live values.
// SPDX-License-Identifier: Apache-2.0
#include "session/layout.h"

#include "model/diagnostic.h"
#include "model/validate.h"

namespace heed {
namespace {

// Most units of the transient part: what a u32 can count, with room to spare.
constexpr uint64_t kMaxUnits = uint64_t{1} << 31;

uint64_t units(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment; }

struct Live {
  uint16_t value;
  Shape shape;
  uint64_t begin;
  uint64_t end;  // begin == end: ids, which take no room
  uint32_t last_use;
};
// Last uses that are no node: nobody reads the value; the caller does.
constexpr uint32_t kNever = 0xffffffffu;
constexpr uint32_t kAfterwards = 0xfffffffeu;

class Walk {
 public:
  Walk(const heed_model& model, const schema::Graph& graph, const heed_limits& limits, const Recorder& recorder,
       GraphRoom* room, heed_diagnostic* diagnostic)
      : model_(model), graph_(graph), limits_(limits), recorder_(recorder), room_(*room), diagnostic_(diagnostic) {}

  heed_status run() {
    for (uint32_t i = 0; i < graph_.inputs()->size(); ++i) {
      diagnostic_->input = static_cast<int32_t>(i);
      if (heed_status s = add_input(*graph_.inputs()->Get(i))) return s;
    }
    diagnostic_->input = -1;
    count_room(0, 0);
    for (uint32_t i = 0; i < graph_.nodes()->size(); ++i) {
      diagnostic_->node = static_cast<int32_t>(i);
      drop_unused(i);
      if (heed_status s = add_node(i)) return s;
    }
    diagnostic_->node = -1;
    return check_outputs();
  }

 private:
  heed_status add_input(const schema::GraphInput& input) {
    Shape shape;
    shape.axis = input.axis();
    shape.rows = input.max_rows();
    shape.ragged = shape.rows > 1;  // a sequence has at least one row, so here it has exactly one
    if (!shape.ragged) shape.axis = 0;
    if (shape.rows > limits_.max_sequence_rows) shape.rows = limits_.max_sequence_rows;
    shape.features = input.features();
    shape.ids = input.type() == schema::ElementType::i32;
    return place(input.value(), shape, nullptr);
  }

  heed_status add_node(uint32_t index) {
    const schema::Node& node = *graph_.nodes()->Get(index);
    const Op* op = find_op(node.op());
    if (op == nullptr) {
      return refuse(diagnostic_, HEED_UNSUPPORTED_OP, schema::EnumNameOpKind(node.op()),
                    static_cast<int64_t>(node.op()));
    }
    if (const char* name = unread_attribute(node, op->reads)) return refuse(diagnostic_, HEED_UNSUPPORTED, name);
    PlanStep step{model_, node, limits_, {}, node.inputs()->size(), max_tile_rows(limits_), diagnostic_};
    for (uint32_t i = 0; i < step.in_count; ++i) step.in[i] = find(node.inputs()->Get(i))->shape;
    Shape out[HEED_MAX_PORTS];
    if (heed_status s = op->check(step, out)) return s;
    for (uint32_t i = 0; i < HEED_MAX_PORTS; ++i) {
      const bool named = i < node.outputs()->size();
      if (named != (out[i].features > 0) || out[i].features > kMaxFeatures) {
        return refuse(diagnostic_, HEED_BAD_GRAPH, "number of outputs, or their features", out[i].features);
      }
      if (!named) continue;
      const Live* over = i == 0 && op->in_place ? reusable(node, index, out[0]) : nullptr;
      if (heed_status s = place(node.outputs()->Get(i), out[i], over)) return s;
    }
    const uint64_t workspace = op->workspace_bytes ? units(op->workspace_bytes(step)) : 0;
    const uint64_t scratch = op->scratch_bytes ? units(op->scratch_bytes(step)) : 0;
    if (workspace > kMaxUnits || scratch > kMaxUnits) return too_large();
    count_room(guarded(workspace), guarded(scratch));
    if (recorder_.nodes) {
      recorder_.nodes[index] = {static_cast<uint32_t>(workspace), static_cast<uint32_t>(scratch)};
    }
    return room_.transient > kMaxUnits ? too_large() : HEED_OK;
  }

  // The node's first input, if its room may be taken by the output: nobody reads it later and the sizes agree.
  const Live* reusable(const schema::Node& node, uint32_t index, const Shape& out) const {
    const Live* input = find(node.inputs()->Get(0));
    const bool same = input->shape.ragged == out.ragged && input->shape.axis == out.axis &&
                      input->shape.rows == out.rows && input->shape.features == out.features;
    return same && !input->shape.ids && input->last_use == index ? input : nullptr;
  }

  heed_status place(uint16_t value, const Shape& shape, const Live* over) {
    if (count_ == kMaxLive) {
      diagnostic_->value = value;
      return refuse(diagnostic_, HEED_TOO_LARGE, "values live at the same time", kMaxLive + 1, kMaxLive);
    }
    const uint64_t size = shape.ids ? 0 : guarded(max_rows(shape, limits_) * row_stride(shape.features) * 4 / kAlignment);
    if (size > kMaxUnits) return too_large();
    const uint64_t begin = over ? over->begin : first_gap(size);
    live_[count_++] = {value, shape, begin, begin + size, last_use(value)};
    if (recorder_.values) {
      recorder_.values[value] = {shape.ids ? kNowhere : static_cast<uint32_t>(begin) + kGuardUnits,
                                 shape.rows,
                                 shape.features,
                                 shape.axis,
                                 static_cast<uint8_t>(shape.ragged),
                                 static_cast<uint8_t>(shape.ids)};
    }
    return HEED_OK;
  }

  // The lowest place where `size` units are free.
  uint64_t first_gap(uint64_t size) const {
    uint64_t begin = 0;
    for (uint32_t i = 0; i < count_;) {
      const bool overlaps = live_[i].begin < begin + size && begin < live_[i].end;
      begin = overlaps ? live_[i].end : begin;
      i = overlaps ? 0 : i + 1;
    }
    return begin;
  }

  void count_room(uint64_t workspace, uint64_t scratch) {
    uint64_t extent = 0;
    uint64_t live = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      if (live_[i].end > extent) extent = live_[i].end;
      bool counted = false;  // an output in the place of an input
      for (uint32_t j = 0; j < i; ++j) {
        counted = counted || (live_[j].begin == live_[i].begin && live_[j].end == live_[i].end);
      }
      if (!counted) live += live_[i].end - live_[i].begin;
    }
    const uint64_t working = workspace + scratch * limits_.workers;
    if (live + working > room_.live_peak) room_.live_peak = live + working;
    if (extent + working <= room_.transient) return;
    room_.transient = extent + working;
    room_.activations = extent;
    room_.workspace = workspace;
    room_.scratch = scratch;
  }

  void drop_unused(uint32_t next_node) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      if (live_[i].last_use != kNever && live_[i].last_use >= next_node) live_[kept++] = live_[i];
    }
    count_ = kept;
  }

  uint32_t last_use(uint16_t value) const {
    for (const schema::GraphOutput* output : *graph_.outputs()) {
      if (output->value() == value) return kAfterwards;
    }
    for (uint32_t i = graph_.nodes()->size(); i-- > 0;) {
      for (uint16_t input : *graph_.nodes()->Get(i)->inputs()) {
        if (input == value) return i;
      }
    }
    return kNever;
  }

  // Every value that a node reads is live: validate_graphs has seen that it was made.
  const Live* find(uint16_t value) const {
    const Live* found = live_;
    while (found->value != value) ++found;
    return found;
  }

  heed_status check_outputs() const {
    for (const schema::GraphOutput* output : *graph_.outputs()) {
      diagnostic_->value = output->value();
      if (find(output->value())->shape.ids) return refuse(diagnostic_, HEED_BAD_GRAPH, "ids as an output");
    }
    diagnostic_->value = -1;
    return HEED_OK;
  }

  heed_status too_large() const {
    return refuse(diagnostic_, HEED_TOO_LARGE, "memory of a graph", -1, static_cast<int64_t>(kMaxUnits * kAlignment));
  }

  const heed_model& model_;
  const schema::Graph& graph_;
  const heed_limits& limits_;
  const Recorder& recorder_;
  GraphRoom& room_;
  heed_diagnostic* diagnostic_;
  Live live_[kMaxLive];
  uint32_t count_ = 0;
};

}  // namespace

uint32_t max_tile_rows(const heed_limits& limits) {
  const uint64_t share = round_up((limits.max_rows + uint64_t{limits.workers} - 1) / limits.workers, 8);
  return share < limits.tile_rows ? static_cast<uint32_t>(share) : limits.tile_rows;
}

uint32_t pass_tile_rows(const heed_limits& limits, uint32_t rows) {
  const uint64_t tiles = round_up((rows + uint64_t{limits.tile_rows} - 1) / limits.tile_rows, limits.workers);
  return static_cast<uint32_t>(round_up((rows + tiles - 1) / tiles, 8));
}

heed_status lay_out(const heed_model& model, uint32_t graph, const heed_limits& limits, const Recorder& recorder,
                    GraphRoom* room, heed_diagnostic* diagnostic) {
  diagnostic->graph = static_cast<int32_t>(graph);
  *room = {};
  const heed_status status =
      Walk(model, *root(model).graphs()->Get(graph), limits, recorder, room, diagnostic).run();
  if (status == HEED_OK) diagnostic->graph = -1;
  return status;
}

}  // namespace heed
