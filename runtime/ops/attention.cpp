// Attention: out = norm_out(x + norm_branch(output(pooled values))), per head softmax(scale * score(q, k)) over the keys
// that a row may see; q from h = norm_in(x), k and v from h (one input) or from a second input. A projection that is
// absent leaves the rows as they are.
// SPDX-License-Identifier: Apache-2.0
//
// Query i of a sequence with n queries and m keys stands at place p = i + m - n (causal_top_left: p = i). It sees keys
// p - window_left .. p + window_right, and none after p if causal. Query head h reads key head h / (heads / kv_heads).
// Phase 0 packs keys and values of all sequences into the workspace, or, where `state` is a kv_append, behind what the
// state has; phase 1 works on tiles of query rows. Keys of a kv_fixed state were packed by a KeyValue node.
#include "ops/attention.h"

namespace heed {
namespace {

using schema::ScoreKind;
using schema::StateKind;

bool is_additive(ScoreKind score) { return score == ScoreKind::additive || score == ScoreKind::concat; }

heed_status check_heads(const PlanStep& step) {
  const schema::Node& node = step.node;
  const struct {
    const char* name;
    uint32_t value;
  } counts[] = {{"heads, of which there are 1 to 66000", node.heads()},
                {"kv_heads, of which there are 1 to 66000", node.kv_heads()},
                {"head_dim of 1 to 66000", node.head_dim()},
                {"value_dim of 1 to 66000", node.value_dim()}};
  for (const auto& count : counts) {
    if (count.value == 0 || count.value > kMaxInt8Cols) {
      return refuse(step.diagnostic, HEED_BAD_SHAPE, count.name, count.value);
    }
  }
  if (node.heads() % node.kv_heads() != 0) {
    return refuse(step.diagnostic, HEED_BAD_SHAPE, "heads are no multiple of kv_heads", node.heads(), node.kv_heads());
  }
  return HEED_OK;
}

heed_status check_mask(const PlanStep& step) {
  const schema::Node& node = step.node;
  if (node.causal_top_left() && !node.causal() && node.window_left() < 0 && node.window_right() < 0) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, "causal_top_left without causal");
  }
  if (node.window_left() < -1) return refuse(step.diagnostic, HEED_BAD_GRAPH, "window_left", node.window_left());
  if (node.window_right() < -1) return refuse(step.diagnostic, HEED_BAD_GRAPH, "window_right", node.window_right());
  return HEED_OK;
}

heed_status check_score(const PlanStep& step) {
  const schema::Node& node = step.node;
  if (!is_additive(node.score()) && node.score() > ScoreKind::general) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, "score");
  }
  if (node.score() == ScoreKind::general && (node.query() >= 0) == (node.key() >= 0) && node.state() < 0) {
    return refuse(step.diagnostic, HEED_BAD_GRAPH, "general projects exactly one of query and key");
  }
  if (is_additive(node.score()) != (node.score_weight() >= 0)) {
    return refuse(step.diagnostic, HEED_BAD_GRAPH, "score_weight belongs to additive scores");
  }
  if (node.score_weight() < 0) return HEED_OK;
  return check_vector(step, node.score_weight(), uint64_t{node.heads()} * node.head_dim(), "score_weight");
}

// The state's heads and widths are the node's, and its keys of the kind that the score reads.
heed_status check_state(const PlanStep& step) {
  const schema::Node& node = step.node;
  const schema::State& state = *root(step.model).states()->Get(static_cast<uint32_t>(node.state()));
  if (state.kind() != StateKind::kv_append && state.kind() != StateKind::kv_fixed) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, "kind of a state", static_cast<int64_t>(state.kind()));
  }
  if (heed_status s = expect_inputs(step, 1)) return s;
  if (heed_status s = expect_features(step, "kv_heads of a state", state.heads(), node.kv_heads())) return s;
  if (heed_status s = expect_features(step, "head_dim of a state", state.features(), node.head_dim())) return s;
  if (heed_status s = expect_features(step, "value_dim of a state", state.value_features(), node.value_dim())) return s;
  if (is_additive(state.score()) != is_additive(node.score())) {
    return refuse(step.diagnostic, HEED_BAD_GRAPH, "score of a state");
  }
  if (state.kind() == StateKind::kv_append) {
    return node.causal_top_left() ? refuse(step.diagnostic, HEED_UNSUPPORTED, "causal_top_left with a state") : HEED_OK;
  }
  if (node.key() >= 0 || node.value() >= 0) {
    return refuse(step.diagnostic, HEED_BAD_GRAPH, "key and value belong to the node that writes the state");
  }
  return HEED_OK;
}

bool reads_fixed(const PlanStep& step) {
  return step.node.state() >= 0 && state_form(step.model, step.node.state(), step.limits).kind == StateKind::kv_fixed;
}

heed_status check(const PlanStep& step, Shape* out) {
  const schema::Node& node = step.node;
  if (heed_status s = expect_inputs(step, step.in_count == 2 ? 2 : 1)) return s;
  if (heed_status s = check_heads(step)) return s;
  if (heed_status s = check_mask(step)) return s;
  if (heed_status s = check_score(step)) return s;
  if (heed_status s = check_position(step)) return s;
  if (node.state() >= 0) {
    if (heed_status s = check_state(step)) return s;
  }
  const uint32_t features = step.in[0].features;
  const uint32_t source = step.in[step.in_count - 1].features;
  const uint64_t keys = uint64_t{node.kv_heads()} * node.head_dim();
  const uint64_t values = uint64_t{node.kv_heads()} * node.value_dim();
  const uint64_t context = uint64_t{node.heads()} * node.value_dim();
  if (heed_status s = check_projection(step, node.query(), uint64_t{node.heads()} * node.head_dim(), features, "query")) {
    return s;
  }
  if (!reads_fixed(step)) {
    if (heed_status s = check_projection(step, node.key(), keys, source, "key")) return s;
    if (heed_status s = check_projection(step, node.value(), values, source, "value")) return s;
  }
  if (context > kMaxInt8Cols) return refuse(step.diagnostic, HEED_BAD_SHAPE, "value_dim of all heads", node.value_dim());
  if (node.output() >= 0) {
    if (heed_status s = check_matrix(step, node.output(), 0, context, "output")) return s;
  }
  out[0] = step.in[0];
  out[0].features = optional_weight(step.model, node.output(), static_cast<uint32_t>(context)).rows;
  return check_block(step, features, out[0].features);
}

uint64_t workspace_bytes(const PlanStep& step) {
  if (step.node.state() >= 0) return 0;
  Carver counter(nullptr);
  take_packed(counter, attention_form(step).keys.form, max_slots(step.in[step.in_count - 1], step.limits));
  return counter.used();
}

uint64_t scratch_bytes(const PlanStep& step) {
  const AttentionForm form = attention_form(step);
  Carver keys(nullptr);
  Carver queries(nullptr);
  if (!reads_fixed(step)) take_append_scratch(keys, step.node, form, step.tile_rows);
  take_query_scratch(queries, step.node, form, step.tile_rows);
  return keys.used() > queries.used() ? keys.used() : queries.used();
}

uint32_t tiles(const Step& step, uint32_t phase) {
  if (phase == 1) return row_tiles(step.in[0].rows, step.tile_rows);
  const bool fixed = step.node.state() >= 0 && step.state.form.kind == StateKind::kv_fixed;
  return fixed ? 0 : row_tiles(key_source(step).rows, step.tile_rows);
}

void tile(const Step& step, uint32_t phase, uint32_t index, uint8_t* scratch) {
  const AttentionForm form = attention_form(step);
  if (phase == 0) {
    append_keys_tile(step, form, row_tile(key_source(step).rows, step.tile_rows, index), scratch);
  } else {
    attend_tile(step, form, tile_of_rows(step, index), scratch);
  }
}

heed_status check_input(const Step& step, heed_diagnostic* diagnostic) {
  const bool appends = step.node.state() >= 0 && step.state.form.kind == StateKind::kv_append;
  return appends ? check_room(step, step.in[0], diagnostic) : HEED_OK;
}

}  // namespace

AttentionForm attention_form(const heed_model& model, const schema::Node& node, const heed_limits& limits,
                             uint32_t features, uint32_t source_features) {
  const auto is_int8 = [](const WeightView& weight) { return weight.format == schema::Format::q8c; };
  AttentionForm form{optional_weight(model, node.query(), features),
                     optional_weight(model, node.output(), node.heads() * node.value_dim()),
                     {optional_weight(model, node.key(), source_features),
                      optional_weight(model, node.value(), source_features),
                      {node.kv_heads(), node.head_dim(), node.value_dim(), limits.precision == HEED_PRECISION_INT8}},
                     optional_weight(model, node.position_weight(), 0),
                     node.heads(),
                     nullptr};
  KeyForm& keys = form.keys.form;
  if (limits.precision == HEED_PRECISION_AUTO) keys.int8 = is_int8(form.keys.key) && is_int8(form.keys.value);
  if (node.state() >= 0) keys.int8 = state_form(model, node.state(), limits).keys.int8;
  if (is_additive(node.score())) {
    keys.int8 = false;
    form.additive = static_cast<const float*>(weight_view(model, node.score_weight()).data);
  }
  return form;
}

QueryScratch take_query_scratch(Carver& carver, const schema::Node& node, const AttentionForm& form,
                                uint32_t tile_rows) {
  const KeyForm& keys = form.keys.form;
  QueryScratch scratch{};
  scratch.block = take_block(carver, node, form.query, form.output, tile_rows);
  scratch.position = PositionBias(carver, node, form.position);
  if (form.query.present()) scratch.linear = take_linear_scratch(carver, form.query, tile_rows);
  scratch.query_stride = round_up(uint64_t{form.heads} * keys.key_dim, 16);
  scratch.context_stride = round_up(form.context_width(), 16);
  const uint64_t query = tile_rows * scratch.query_stride;
  const uint64_t context = tile_rows * scratch.context_stride;
  if (keys.int8) {
    scratch.query = scratch.context = carver.take<float>(query > context ? query : context);
    scratch.query_bytes = carver.take<uint8_t>(tile_rows * form.heads * keys.key_width());
    scratch.query_scale = carver.take<float>(uint64_t{tile_rows} * form.heads);
  } else {
    scratch.query = carver.take<float>(query);
    scratch.context = carver.take<float>(context);
  }
  scratch.last = {take_quantized_in_place(carver, scratch.context, scratch.context_stride, tile_rows),
                  scratch.linear.tile};
  if (scratch.last.tile == nullptr && form.output.present()) scratch.last.tile = take_tile(carver);
  const uint64_t width = keys.value_width() > kKeyTile ? keys.value_width() : kKeyTile;
  scratch.products = carver.take<int32_t>(kBlockRows * width);
  scratch.weights = carver.take<uint8_t>(kBlockRows * kKeyTile * keys.element_bytes());
  return scratch;
}

using A = Attribute;
const Op kAttentionOp = {
    schema::OpKind::Attention,
    "Attention",
    attributes(A::query, A::key, A::value, A::output, A::norm_in, A::norm_branch, A::norm_out, A::norm_kind,
               A::epsilon, A::residual, A::scale, A::heads, A::kv_heads, A::head_dim, A::value_dim, A::score, A::causal,
               A::causal_top_left, A::window_left, A::window_right, A::score_weight, A::state,
               A::position_kind, A::position_weight, A::position_two_sided, A::position_max_distance),
    true,
    check,
    workspace_bytes,
    scratch_bytes,
    2,
    tiles,
    tile,
    check_input};

}  // namespace heed
