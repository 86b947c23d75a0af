// Checks of a model's states: what each is, and that no graph writes one twice.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "model/diagnostic.h"
#include "model/validate.h"
#include "model/weight.h"

namespace heed {
namespace {

using schema::OpKind;
using schema::ScoreKind;
using schema::State;
using schema::StateKind;

heed_status check_row(const State& state, heed_diagnostic* diagnostic) {
  if (state.features() == 0 || state.features() > kMaxFeatures) {
    return refuse(diagnostic, HEED_BAD_SHAPE, "features of a state", state.features(), kMaxFeatures);
  }
  if (state.heads() != 0 || state.rows() != 0 || state.value_features() != 0) {
    return refuse(diagnostic, HEED_BAD_SHAPE, "heads, rows or value_features of a recurrent state");
  }
  return HEED_OK;
}

heed_status check_keys(const State& state, heed_diagnostic* diagnostic) {
  const struct {
    const char* name;
    uint64_t found;
    uint64_t least;
    uint64_t most;
  } bounds[] = {{"heads of a state", state.heads(), 1, kMaxFeatures},
                {"features of a state", uint64_t{state.heads()} * state.features(), 1, kMaxFeatures},
                {"value_features of a state", uint64_t{state.heads()} * state.value_features(), 1, kMaxFeatures},
                {"rows of a state", state.rows(), 0, kMaxRows}};
  for (const auto& bound : bounds) {
    if (bound.found >= bound.least && bound.found <= bound.most) continue;
    return refuse(diagnostic, HEED_BAD_SHAPE, bound.name, static_cast<int64_t>(bound.found),
                  static_cast<int64_t>(bound.most));
  }
  return HEED_OK;
}

heed_status check_state(const State& state, heed_diagnostic* diagnostic) {
  const bool keys = state.kind() == StateKind::kv_append || state.kind() == StateKind::kv_fixed;
  if (!keys && state.kind() != StateKind::recurrent) {
    return refuse(diagnostic, HEED_UNSUPPORTED, "kind of a state", static_cast<int64_t>(state.kind()));
  }
  if (state.format() != schema::Format::f32 && !(keys && state.format() == schema::Format::q8c)) {
    return refuse(diagnostic, HEED_UNSUPPORTED, "format of a state", static_cast<int64_t>(state.format()));
  }
  if (state.score() > ScoreKind::MAX) {
    return refuse(diagnostic, HEED_UNSUPPORTED, "score of a state", static_cast<int64_t>(state.score()));
  }
  return keys ? check_keys(state, diagnostic) : check_row(state, diagnostic);
}

bool same_name(const State& a, const State& b) {
  return a.name()->size() == b.name()->size() && std::memcmp(a.name()->data(), b.name()->data(), a.name()->size()) == 0;
}

// A pass counts what a graph appends when it is done, and moves what it stores, so a state has one writer.
heed_status check_writers(const schema::Model& model, const schema::Graph& graph, heed_diagnostic* diagnostic) {
  uint32_t written[kMaxStates / 32] = {};
  for (uint32_t i = 0; i < graph.nodes()->size(); ++i) {
    const schema::Node& node = *graph.nodes()->Get(i);
    if (node.state() < 0) continue;
    const uint32_t id = static_cast<uint32_t>(node.state());
    const bool writes = node.op() == OpKind::KeyValue || node.op() == OpKind::StoreState ||
                        (node.op() == OpKind::Attention && model.states()->Get(id)->kind() == StateKind::kv_append);
    if (!writes) continue;
    diagnostic->node = static_cast<int32_t>(i);
    if ((written[id / 32] >> id % 32 & 1) != 0) return refuse(diagnostic, HEED_BAD_GRAPH, "state written twice", id);
    written[id / 32] |= 1u << id % 32;
  }
  diagnostic->node = -1;
  return HEED_OK;
}

}  // namespace

heed_status validate_states(const heed_model& model, heed_diagnostic* diagnostic) {
  const auto* states = root(model).states();
  const uint32_t count = states == nullptr ? 0 : states->size();
  if (count > kMaxStates) return refuse(diagnostic, HEED_TOO_LARGE, "states", count, kMaxStates);
  for (uint32_t i = 0; i < count; ++i) {
    if (heed_status s = check_state(*states->Get(i), diagnostic)) return s;
    for (uint32_t j = 0; j < i; ++j) {
      if (same_name(*states->Get(i), *states->Get(j))) return refuse(diagnostic, HEED_BAD_GRAPH, "two states with one name", i);
    }
  }
  for (uint32_t i = 0; i < root(model).graphs()->size(); ++i) {
    diagnostic->graph = static_cast<int32_t>(i);
    if (heed_status s = check_writers(root(model), *root(model).graphs()->Get(i), diagnostic)) return s;
  }
  diagnostic->graph = -1;
  return HEED_OK;
}

}  // namespace heed
