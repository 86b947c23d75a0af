// Rows projected to keys and values and packed: what Attention and KeyValue share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/block.h"

namespace heed {

// How rows become keys and values. A weight that is absent stands for the rows themselves.
struct KeyProjection {
  WeightView key;
  WeightView value;
  KeyForm form;
};

// Where the packed keys of each sequence of a pass lie.
struct KeyStore {
  PackedKeys packed;
  const StateView* state;  // null: the workspace
  const Tensor* source;    // rows that become keys in this pass; null: none do
  bool appends;            // behind the keys that the state has

  uint64_t slot(uint32_t sequence) const {
    return state ? state->slot(sequence) * state->form.stride() : source->slots(sequence);
  }
  // Keys there before the pass, and when it is done.
  uint32_t before(uint32_t sequence) const { return appends ? state->length(sequence) : 0; }
  uint32_t keys(uint32_t sequence) const {
    return before(sequence) + (source ? source->begin(sequence + 1) - source->begin(sequence) : 0);
  }
  // Keys that the sequence has room for, which decides how wide its last tile of values is.
  uint32_t room(uint32_t sequence) const { return state ? state->form.rows : keys(sequence); }
};

inline KeyStore workspace_keys(const Step& step, const KeyForm& form, const Tensor& source) {
  Carver carver(step.workspace);
  return {take_packed(carver, form, source.slots(step.sequences)), nullptr, &source, false};
}
// Read only; appended to; written anew.
inline KeyStore kept_keys(const StateView& state) { return {state.packed(), &state, nullptr, true}; }
inline KeyStore appended_keys(const StateView& state, const Tensor& source) {
  return {state.packed(), &state, &source, true};
}
inline KeyStore written_keys(const StateView& state, const Tensor& source) {
  return {state.packed(), &state, &source, false};
}

// Checks one projection, or the rows' own width where it is absent.
heed_status check_projection(const PlanStep& step, int32_t id, uint64_t width, uint32_t features, const char* what);

struct KeyScratch {
  LinearScratch linear;
  float* projected;  // [tile_rows, width of all keys or all values]; null if neither is projected
  uint64_t stride;
};
KeyScratch take_key_scratch(Carver& carver, const KeyProjection& projection, uint32_t tile_rows);

// Packs the keys and values of the rows `in`, which are those of `range` in the store's source.
void pack_key_rows(const Step& step, const KeyProjection& projection, const KeyStore& store, RowRange range,
                   const FloatRows& in, const KeyScratch& scratch);

}  // namespace heed
