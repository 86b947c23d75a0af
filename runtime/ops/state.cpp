// Sizes of states.
// SPDX-License-Identifier: Apache-2.0
#include "ops/state.h"

#include "model/weight.h"

namespace heed {
namespace {

// Additive scores are sums over a function of every feature: their keys cannot be int8.
bool keeps_int8(const schema::State& state, const heed_limits& limits) {
  if (state.score() == schema::ScoreKind::additive || state.score() == schema::ScoreKind::concat) return false;
  if (limits.precision != HEED_PRECISION_AUTO) return limits.precision == HEED_PRECISION_INT8;
  return state.format() == schema::Format::q8c;
}

uint32_t least_of(uint32_t bound, uint32_t rows) { return bound > 0 && bound < rows ? bound : rows; }

}  // namespace

StateForm state_form(const heed_model& model, int32_t id, const heed_limits& limits) {
  const schema::State& state = *root(model).states()->Get(static_cast<uint32_t>(id));
  StateForm form{state.kind(), {}, state.features(), 0, limits.max_sequences};
  if (!form.has_keys()) return form;
  form.keys = {state.heads(), state.features(), state.value_features(), keeps_int8(state, limits)};
  const bool fixed = form.kind == schema::StateKind::kv_fixed;
  form.rows = least_of(state.rows(), fixed ? limits.max_sequence_rows : limits.max_context);
  if (fixed) form.slots = limits.max_sequences / limits.beams;
  return form;
}

uint64_t state_bytes(const StateForm& form) {
  if (!form.has_keys()) return form.slots * form.row_stride() * sizeof(float);
  // Widths of all heads together are bounded by validate.cpp, so that this is all that could overflow.
  if (form.key_slots() > uint64_t{1} << 34) return kHugeState;
  Carver counter(nullptr);
  take_packed(counter, form.keys, form.key_slots());
  return counter.used();
}

}  // namespace heed
