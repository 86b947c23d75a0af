// What the two phases of Attention share: its widths, where keys and values are, and how scratch lies.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/attention_position.h"
#include "ops/key_store.h"

namespace heed {

constexpr uint32_t kBlockRows = kBiasRows;  // most query rows that go over the keys together, on any instruction set

struct AttentionForm {
  WeightView query;
  WeightView output;
  KeyProjection keys;
  WeightView position;    // t5: [buckets, heads]; else absent
  uint32_t heads;
  const float* additive;  // [heads * key_dim]: v of v . tanh(q + k); null: the score is a dot product

  uint32_t group() const { return heads / keys.form.heads; }  // query heads that share a key head
  uint64_t context_width() const { return uint64_t{heads} * keys.form.value_dim; }
};

// The weights that the node names must be there. Features are those of the queries' and of the keys' rows.
AttentionForm attention_form(const heed_model& model, const schema::Node& node, const heed_limits& limits,
                             uint32_t features, uint32_t source_features);
template <class AnyStep>
AttentionForm attention_form(const AnyStep& step) {
  return attention_form(step.model, step.node, step.limits, step.in[0].features, step.in[step.in_count - 1].features);
}

// Scratch of phase 0, the normed rows first where the node norms them.
struct AppendScratch {
  BlockScratch block;
  KeyScratch keys;
};
AppendScratch take_append_scratch(Carver& carver, const schema::Node& node, const AttentionForm& form,
                                  uint32_t tile_rows);

// Scratch of phase 1.
struct QueryScratch {
  BlockScratch block;
  LinearScratch linear;
  float* query;          // [tile_rows, heads * key_dim]
  uint64_t query_stride;
  uint8_t* query_bytes;  // int8 only: [tile_rows, heads, key_width]
  float* query_scale;    // int8 only: [tile_rows, heads]
  float* context;        // [tile_rows, heads * value_dim]; int8: over `query`, which is not needed any more
  uint64_t context_stride;
  LinearScratch last;    // quantizes `context` in place
  void* products;        // i32 or f32 [kBlockRows, 64 or value_width]
  void* weights;         // u8 or f32 [kBlockRows, 64]
  PositionBias position;
};
QueryScratch take_query_scratch(Carver& carver, const schema::Node& node, const AttentionForm& form,
                                uint32_t tile_rows);

// Where keys and values come from: the second input if there is one.
inline const Tensor& key_source(const Step& step) { return step.in[step.in_count - 1]; }

// Where they are: in a state if the node names one, else in the workspace.
inline KeyStore key_store(const Step& step, const AttentionForm& form) {
  if (step.node.state() < 0) return workspace_keys(step, form.keys.form, key_source(step));
  if (step.state.form.kind == schema::StateKind::kv_fixed) return kept_keys(step.state);
  return appended_keys(step.state, step.in[0]);
}

// The phases' tiles.
void append_keys_tile(const Step& step, const AttentionForm& form, RowRange range, uint8_t* scratch);
void attend_tile(const Step& step, const AttentionForm& form, RowRange range, uint8_t* scratch);

}  // namespace heed
