// KeyValue: projects rows to keys and values, as Attention does, and keeps them in a kv_fixed state for the Attention nodes of
// another graph. A projection that is absent leaves the rows as they are. No output.
// SPDX-License-Identifier: Apache-2.0
#include "ops/key_store.h"

namespace heed {
namespace {

template <class AnyStep>
KeyProjection projection_of(const AnyStep& step) {
  const uint32_t features = step.in[0].features;
  return {optional_weight(step.model, step.node.key(), features), optional_weight(step.model, step.node.value(), features),
          state_form(step.model, step.node.state(), step.limits).keys};
}

heed_status check(const PlanStep& step, Shape*) {
  const schema::Node& node = step.node;
  if (heed_status s = expect_inputs(step, 1)) return s;
  if (node.state() < 0) return refuse(step.diagnostic, HEED_BAD_GRAPH, "state missing");
  const StateForm state = state_form(step.model, node.state(), step.limits);
  if (state.kind != schema::StateKind::kv_fixed) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, "kind of a state", static_cast<int64_t>(state.kind));
  }
  const uint64_t keys = uint64_t{state.keys.heads} * state.keys.key_dim;
  const uint64_t values = uint64_t{state.keys.heads} * state.keys.value_dim;
  if (heed_status s = check_projection(step, node.key(), keys, step.in[0].features, "key")) return s;
  return check_projection(step, node.value(), values, step.in[0].features, "value");
}

uint64_t scratch_bytes(const PlanStep& step) {
  Carver counter(nullptr);
  take_key_scratch(counter, projection_of(step), step.tile_rows);
  return counter.used();
}

void tile(const Step& step, uint32_t, uint32_t index, uint8_t* memory) {
  const KeyProjection projection = projection_of(step);
  const RowRange range = tile_of_rows(step, index);
  Carver carver(memory);
  const KeyScratch scratch = take_key_scratch(carver, projection, step.tile_rows);
  const Tensor& in = step.in[0];
  pack_key_rows(step, projection, written_keys(step.state, in), range, {in.row(range.begin), in.stride, range.count},
                scratch);
  // Whoever has a sequence's first row says how long it is.
  for (uint32_t s = sequence_of(in, step.sequences, range.begin); s < step.sequences; ++s) {
    if (in.begin(s) >= range.begin + range.count) break;
    if (in.begin(s) >= range.begin) step.state.lengths[step.state.slot(s)] = in.begin(s + 1) - in.begin(s);
  }
}

heed_status check_input(const Step& step, heed_diagnostic* diagnostic) {
  for (uint32_t s = 0; s < step.sequences; ++s) {
    const uint32_t rows = step.in[0].begin(s + 1) - step.in[0].begin(s);
    if (rows > step.state.form.rows) return refuse(diagnostic, HEED_TOO_LONG, "rows of a state", rows, step.state.form.rows);
  }
  if (step.state.beams == 1) return HEED_OK;
  return refuse(diagnostic, HEED_INVALID_ARGUMENT, "beams of a pass that writes sources", step.state.beams, 1);
}

}  // namespace

using A = Attribute;
const Op kKeyValueOp = {schema::OpKind::KeyValue,
                        "KeyValue",
                        attributes(A::key, A::value, A::state),
                        false,
                        check,
                        nullptr,
                        scratch_bytes,
                        1,
                        tiles_of_rows,
                        tile,
                        check_input};

}  // namespace heed
