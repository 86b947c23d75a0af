// Embed: out = norm_out(token[id] * scale + position[place + position_offset] + segment[id]).
// SPDX-License-Identifier: Apache-2.0
//
// Inputs: token ids, and segment ids where there is a segment table (an absent optional input reads as zeros).
// Tables lie in layout `rows`, one row for each entry; the token table may be a matrix that a product reads, too, and then lies in
// panels, with a bias that is not the tokens'. The place is counted from the start of the sequence; where
// `state` names a kv_append, behind the keys that it has.
#include "kernels/exact_float.h"
//
#include <cstring>

#include "ops/norms.h"

namespace heed {
namespace {

heed_status check_table(const PlanStep& step, int32_t id, uint64_t least_rows, uint32_t features, const char* what) {
  if (id < 0) return HEED_OK;
  const WeightView table = weight_view(step.model, id);
  step.diagnostic->weight = id;
  const bool shared = table.layout == schema::Layout::panel16 && id == step.node.token();
  if (!shared && (table.layout != schema::Layout::rows || table.bias != nullptr)) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, what);
  }
  if (table.input_scale != nullptr) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, what);
  }
  if (heed_status s = expect_features(step, what, table.cols, features)) return s;
  if (table.rows < least_rows) {
    return refuse(step.diagnostic, HEED_BAD_SHAPE, what, table.rows, static_cast<int64_t>(least_rows));
  }
  step.diagnostic->weight = -1;
  return HEED_OK;
}

heed_status check(const PlanStep& step, Shape* out) {
  const schema::Node& node = step.node;
  if (node.token() < 0) return refuse(step.diagnostic, HEED_BAD_GRAPH, "token table missing");
  const uint32_t inputs = node.segment() < 0 ? 1 : 2;
  if (step.in_count != inputs) {
    return refuse(step.diagnostic, HEED_BAD_GRAPH, "number of inputs", step.in_count, inputs);
  }
  for (uint32_t i = 0; i < inputs; ++i) {
    if (!step.in[i].ids || step.in[i].axis != step.in[0].axis) {
      return refuse(step.diagnostic, HEED_BAD_SHAPE, "ids of one axis wanted");
    }
  }
  const uint32_t features = weight_view(step.model, node.token()).cols;
  uint32_t rows = step.in[0].rows;
  if (node.state() >= 0) {
    const StateForm state = state_form(step.model, node.state(), step.limits);
    if (state.kind != schema::StateKind::kv_append) return refuse(step.diagnostic, HEED_UNSUPPORTED, "kind of a state");
    rows = state.rows;
  }
  const uint64_t places = uint64_t{node.position_offset()} + rows;
  if (heed_status s = check_table(step, node.token(), 1, features, "token table")) return s;
  if (heed_status s = check_table(step, node.position(), places, features, "position table")) return s;
  if (heed_status s = check_table(step, node.segment(), 1, features, "segment table")) return s;
  out[0] = step.in[0];
  out[0].ids = false;
  out[0].features = features;
  return check_norm(step, node.norm_out(), features, "norm_out");
}

struct Table {
  WeightView weight;
  float scale;
};

// A row out of its panel: some columns at a time are put side by side.
void look_up_in_panel(const Step& step, const Table& table, uint64_t id, bool add, float* out) {
  alignas(kAlignment) uint8_t piece[256];
  const WeightView& weight = table.weight;
  const bool int8 = weight.format == schema::Format::q8c;
  const bool half = weight.format == schema::Format::f16;
  const uint32_t together = int8 ? kGroupCols : 1;  // columns that lie side by side in the panel, and their bytes
  const uint32_t bytes = int8 ? kGroupCols : half ? sizeof(uint16_t) : sizeof(float);
  const uint64_t first = int8 ? panel_i8_index(id, 0, weight.cols) : panel_f32_index(id, 0, weight.cols) * bytes;
  const uint8_t* at = static_cast<const uint8_t*>(weight.data) + first;
  const uint32_t most = sizeof piece / bytes * together;
  const float scale = int8 ? weight.scales[id] * table.scale : table.scale;
  for (uint32_t begin = 0; begin < weight.cols; begin += most) {
    const uint32_t count = weight.cols - begin < most ? weight.cols - begin : most;
    for (uint32_t c = 0; c < count; c += together, at += bytes * kPanelRows) std::memcpy(piece + c / together * bytes, at, bytes);
    step.kernels.look_up_row({piece, int8 ? ElementFormat::kI8 : half ? ElementFormat::kF16 : ElementFormat::kF32, count, scale, add, out + begin});
  }
}

void look_up(const Step& step, const Table& table, uint64_t id, bool add, float* out) {
  if (table.weight.layout == schema::Layout::panel16) return look_up_in_panel(step, table, id, add, out);
  const uint32_t cols = table.weight.cols;
  LookUpRow row{nullptr, ElementFormat::kF32, cols, table.scale, add, out};
  switch (table.weight.format) {
    case schema::Format::f16:
      row.format = ElementFormat::kF16;
      row.row = static_cast<const uint16_t*>(table.weight.data) + id * cols;
      break;
    case schema::Format::q8c:
      row.format = ElementFormat::kI8;
      row.row = static_cast<const int8_t*>(table.weight.data) + id * cols;
      row.scale = table.weight.scales[id] * table.scale;
      break;
    default:
      row.row = static_cast<const float*>(table.weight.data) + id * cols;
  }
  step.kernels.look_up_row(row);
}

uint32_t id_at(const Tensor& in, uint32_t row) { return in.ids ? static_cast<uint32_t>(in.ids[row]) : 0; }

void tile(const Step& step, uint32_t, uint32_t index, uint8_t*) {
  const schema::Node& node = step.node;
  const RowRange range = tile_of_rows(step, index);
  const auto table = [&](int32_t id, float scale) {
    return Table{id < 0 ? WeightView{} : weight_view(step.model, id), scale};
  };
  const Table token = table(node.token(), node.scale());
  const Table position = table(node.position(), 1.0f);
  const Table segment = table(node.segment(), 1.0f);
  uint32_t sequence = sequence_of(step.in[0], step.sequences, range.begin);
  for (uint32_t r = range.begin; r < range.begin + range.count; ++r) {
    while (r >= step.in[0].begin(sequence + 1)) ++sequence;
    float* out = step.out[0].row(r);
    look_up(step, token, id_at(step.in[0], r), false, out);
    const uint64_t before = node.state() < 0 ? 0 : step.state.length(sequence);
    const uint64_t place = before + r - step.in[0].begin(sequence) + node.position_offset();
    if (node.position() >= 0) look_up(step, position, place, true, out);
    if (node.segment() >= 0) look_up(step, segment, id_at(step.in[1], r), true, out);
  }
  if (node.norm_out() < 0) return;
  float* out = step.out[0].row(range.begin);
  normalize(step, node.norm_out(), {out, step.out[0].stride, range.count}, out, step.out[0].stride);
}

heed_status check_input(const Step& step, heed_diagnostic* diagnostic) {
  if (step.node.state() >= 0) {
    if (heed_status s = check_room(step, step.in[0], diagnostic)) return s;
  }
  const int32_t tables[] = {step.node.token(), step.node.segment()};
  for (uint32_t i = 0; i < step.in_count; ++i) {
    const int64_t entries = weight_view(step.model, tables[i]).rows;
    const Tensor& in = step.in[i];
    for (uint32_t r = 0; in.ids != nullptr && r < in.rows; ++r) {
      if (in.ids[r] >= 0 && in.ids[r] < entries) continue;
      diagnostic->value = step.node.inputs()->Get(i);
      diagnostic->byte_offset = int64_t{r} * 4;
      return refuse(diagnostic, HEED_BAD_INPUT, "id outside its table", in.ids[r], entries - 1);
    }
  }
  return HEED_OK;
}

}  // namespace

using A = Attribute;
const Op kEmbedOp = {schema::OpKind::Embed,
                     "Embed",
                     attributes(A::token, A::position, A::segment, A::scale, A::position_offset, A::norm_out,
                                A::norm_kind, A::epsilon, A::state),
                     false,
                     check,
                     nullptr,
                     nullptr,
                     1,
                     tiles_of_rows,
                     tile,
                     check_input};

}  // namespace heed
