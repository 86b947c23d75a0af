// What the two phases of Attention share: its widths, and how workspace and scratch lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/block.h"

namespace heed {

constexpr uint32_t kBlockRows = 16;  // most query rows that go over the keys together, on any instruction set

struct AttentionForm {
  WeightView query;
  WeightView key;
  WeightView value;
  WeightView output;
  uint32_t heads;
  uint32_t kv_heads;
  uint32_t head_dim;
  uint32_t value_dim;
  bool int8;  // scores and pooling; else f32

  uint32_t group() const { return heads / kv_heads; }  // query heads that share a key head
  // Features of a packed key and of a packed value.
  uint64_t key_width() const { return int8 ? round_up(head_dim, kGroupCols) : head_dim; }
  uint64_t value_width() const { return round_up(value_dim, kPanelRows); }
  uint64_t element_bytes() const { return int8 ? 1 : 4; }
};

// The node's weights must be there.
AttentionForm attention_form(const heed_model& model, const schema::Node& node, const heed_limits& limits);

// Workspace: packed keys and values of all heads and sequences. Head h, slot s of an array with `width` elements for
// each slot lies at (h * slots + s) * width; slots are a multiple of 16. How a sequence's part lies: quant/panel.h.
struct PackedKeys {
  uint64_t slots;
  uint8_t* keys;         // int8 or f32
  uint8_t* values;
  float* key_scale;      // int8 only, as the next three
  int32_t* key_sum;
  float* value_log2;     // log2 and inverse of each value row's scale
  float* value_inverse;
};
PackedKeys take_packed(Carver& carver, const AttentionForm& form, uint64_t slots);

// Scratch of phase 0.
struct KeyScratch {
  BlockScratch block;
  LinearScratch linear;
  float* projected;  // [tile_rows, width of all keys or all values]
  uint64_t stride;
};
KeyScratch take_key_scratch(Carver& carver, const schema::Node& node, const AttentionForm& form, uint32_t tile_rows);

// Scratch of phase 1.
struct QueryScratch {
  BlockScratch block;
  LinearScratch linear;
  float* query;          // [tile_rows, heads * head_dim]
  uint64_t query_stride;
  uint8_t* query_bytes;  // int8 only: [tile_rows, heads, key_width]
  float* query_scale;    // int8 only: [tile_rows, heads]
  float* context;        // [tile_rows, heads * value_dim]; int8: over `query`, which is not needed any more
  uint64_t context_stride;
  LinearScratch last;    // quantizes `context` in place
  void* products;        // i32 or f32 [kBlockRows, 64 or value_width]
  void* weights;         // u8 or f32 [kBlockRows, 64]
};
QueryScratch take_query_scratch(Carver& carver, const schema::Node& node, const AttentionForm& form,
                                uint32_t tile_rows);

// The phases' tiles.
void pack_keys_tile(const Step& step, const AttentionForm& form, RowRange range, uint8_t* scratch);
void attend_tile(const Step& step, const AttentionForm& form, RowRange range, uint8_t* scratch);

// Where keys and values come from: the second input if there is one.
inline const Tensor& key_source(const Step& step) { return step.in[step.in_count - 1]; }

}  // namespace heed
