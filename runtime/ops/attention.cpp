// Attention: out = norm_out(x + norm_branch(output(pooled values))), per head softmax(scale * q . k) over the keys that
// a row may see; q from h = norm_in(x), k and v from h (one input) or from a second input.
// SPDX-License-Identifier: Apache-2.0
//
// Query i of a sequence with n queries and m keys stands at place p = i + m - n (causal_top_left: p = i). It sees keys
// p - window_left .. p + window_right, and none after p if causal. Query head h reads key head h / (heads / kv_heads).
// Phase 0 packs keys and values of all sequences into the workspace; phase 1 works on tiles of query rows.
#include "ops/attention.h"

namespace heed {
namespace {

heed_status check_heads(const PlanStep& step) {
  const schema::Node& node = step.node;
  const struct {
    const char* name;
    uint32_t value;
  } counts[] = {{"heads", node.heads()},
                {"kv_heads", node.kv_heads()},
                {"head_dim", node.head_dim()},
                {"value_dim", node.value_dim()}};
  for (const auto& count : counts) {
    if (count.value == 0 || count.value > kMaxInt8Cols) {
      return refuse(step.diagnostic, HEED_BAD_SHAPE, count.name, count.value, kMaxInt8Cols);
    }
  }
  if (node.heads() % node.kv_heads() != 0) {
    return refuse(step.diagnostic, HEED_BAD_SHAPE, "heads are no multiple of kv_heads", node.heads(), node.kv_heads());
  }
  return HEED_OK;
}

heed_status check_kinds(const PlanStep& step) {
  const schema::Node& node = step.node;
  if (node.score() > schema::ScoreKind::dot) return refuse(step.diagnostic, HEED_UNSUPPORTED, "score");
  if (node.causal_top_left() && !node.causal() && node.window_left() < 0 && node.window_right() < 0) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, "causal_top_left without causal");
  }
  if (node.window_left() < -1) return refuse(step.diagnostic, HEED_BAD_GRAPH, "window_left", node.window_left());
  if (node.window_right() < -1) return refuse(step.diagnostic, HEED_BAD_GRAPH, "window_right", node.window_right());
  return HEED_OK;
}

heed_status check(const PlanStep& step, Shape* out) {
  const schema::Node& node = step.node;
  if (heed_status s = expect_inputs(step, step.in_count == 2 ? 2 : 1)) return s;
  if (heed_status s = check_heads(step)) return s;
  if (heed_status s = check_kinds(step)) return s;
  const uint32_t features = step.in[0].features;
  const uint32_t source = step.in[step.in_count - 1].features;
  const uint64_t heads = node.heads();
  const uint64_t kv_heads = node.kv_heads();
  if (heed_status s = check_matrix(step, node.query(), heads * node.head_dim(), features, "query")) return s;
  if (heed_status s = check_matrix(step, node.key(), kv_heads * node.head_dim(), source, "key")) return s;
  if (heed_status s = check_matrix(step, node.value(), kv_heads * node.value_dim(), source, "value")) return s;
  if (heed_status s = check_matrix(step, node.output(), 0, heads * node.value_dim(), "output")) return s;
  out[0] = step.in[0];
  out[0].features = weight_view(step.model, node.output()).rows;
  return check_block(step, features, out[0].features);
}

uint64_t workspace_bytes(const PlanStep& step) {
  Carver counter(nullptr);
  take_packed(counter, attention_form(step.model, step.node, step.limits),
              max_slots(step.in[step.in_count - 1], step.limits));
  return counter.used();
}

uint64_t scratch_bytes(const PlanStep& step) {
  const AttentionForm form = attention_form(step.model, step.node, step.limits);
  Carver keys(nullptr);
  Carver queries(nullptr);
  take_key_scratch(keys, step.node, form, step.tile_rows);
  take_query_scratch(queries, step.node, form, step.tile_rows);
  return keys.used() > queries.used() ? keys.used() : queries.used();
}

uint32_t tiles(const Step& step, uint32_t phase) {
  return row_tiles(phase == 0 ? key_source(step).rows : step.in[0].rows, step.tile_rows);
}

void tile(const Step& step, uint32_t phase, uint32_t index, uint8_t* scratch) {
  const AttentionForm form = attention_form(step.model, step.node, step.limits);
  if (phase == 0) {
    pack_keys_tile(step, form, row_tile(key_source(step).rows, step.tile_rows, index), scratch);
  } else {
    attend_tile(step, form, tile_of_rows(step, index), scratch);
  }
}

// Room for what any of several weights needs.
LinearScratch take_shared(Carver& carver, const WeightView& a, const WeightView& b, uint32_t tile_rows) {
  return take_linear_scratch(carver, a.format == schema::Format::q8c ? a : b, tile_rows);
}

}  // namespace

AttentionForm attention_form(const heed_model& model, const schema::Node& node, const heed_limits& limits) {
  AttentionForm form{weight_view(model, node.query()),
                     weight_view(model, node.key()),
                     weight_view(model, node.value()),
                     weight_view(model, node.output()),
                     node.heads(),
                     node.kv_heads(),
                     node.head_dim(),
                     node.value_dim(),
                     limits.precision == HEED_PRECISION_INT8};
  if (limits.precision == HEED_PRECISION_AUTO) {
    form.int8 = form.key.format == schema::Format::q8c && form.value.format == schema::Format::q8c;
  }
  return form;
}

PackedKeys take_packed(Carver& carver, const AttentionForm& form, uint64_t slots) {
  const uint64_t all = slots * form.kv_heads;
  PackedKeys packed{};
  packed.slots = slots;
  packed.keys = carver.take<uint8_t>(all * form.key_width() * form.element_bytes());
  packed.values = carver.take<uint8_t>(all * form.value_width() * form.element_bytes());
  if (!form.int8) return packed;
  packed.key_scale = carver.take<float>(all);
  packed.key_sum = carver.take<int32_t>(all);
  packed.value_log2 = carver.take<float>(all);
  packed.value_inverse = carver.take<float>(all);
  return packed;
}

KeyScratch take_key_scratch(Carver& carver, const schema::Node& node, const AttentionForm& form, uint32_t tile_rows) {
  KeyScratch scratch{};
  scratch.block = take_block(carver, node, form.key, form.output, tile_rows);
  scratch.linear = take_shared(carver, form.key, form.value, tile_rows);
  scratch.stride = round_up(form.key.rows > form.value.rows ? form.key.rows : form.value.rows, 16);
  scratch.projected = carver.take<float>(tile_rows * scratch.stride);
  return scratch;
}

QueryScratch take_query_scratch(Carver& carver, const schema::Node& node, const AttentionForm& form,
                                uint32_t tile_rows) {
  QueryScratch scratch{};
  scratch.block = take_block(carver, node, form.query, form.output, tile_rows);
  scratch.linear = take_linear_scratch(carver, form.query, tile_rows);
  scratch.query_stride = round_up(form.query.rows, 16);
  scratch.context_stride = round_up(form.output.cols, 16);
  const uint64_t query = tile_rows * scratch.query_stride;
  const uint64_t context = tile_rows * scratch.context_stride;
  if (form.int8) {
    scratch.query = scratch.context = carver.take<float>(query > context ? query : context);
    scratch.query_bytes = carver.take<uint8_t>(tile_rows * form.heads * form.key_width());
    scratch.query_scale = carver.take<float>(uint64_t{tile_rows} * form.heads);
  } else {
    scratch.query = carver.take<float>(query);
    scratch.context = carver.take<float>(context);
  }
  scratch.last = {take_quantized_in_place(carver, scratch.context, scratch.context_stride, tile_rows),
                  scratch.linear.tile};
  const uint64_t width = form.value_width() > kKeyTile ? form.value_width() : kKeyTile;
  scratch.products = carver.take<int32_t>(kBlockRows * width);
  scratch.weights = carver.take<uint8_t>(kBlockRows * kKeyTile * form.element_bytes());
  return scratch;
}

using A = Attribute;
const Op kAttentionOp = {
    schema::OpKind::Attention,
    "Attention",
    attributes(A::query, A::key, A::value, A::output, A::norm_in, A::norm_branch, A::norm_out, A::norm_kind,
               A::epsilon, A::residual, A::scale, A::heads, A::kv_heads, A::head_dim, A::value_dim, A::score, A::causal,
               A::causal_top_left, A::window_left, A::window_right),
    true,
    check,
    workspace_bytes,
    scratch_bytes,
    2,
    tiles,
    tile,
    nullptr};

}  // namespace heed
