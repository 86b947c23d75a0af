// heed_reset and heed_reorder, and what a pass does to the states of a session.
// SPDX-License-Identifier: Apache-2.0
#include "session/states.h"

#include <cstring>

#include "model/diagnostic.h"

namespace heed {
namespace {

constexpr uint32_t kNobody = 0xffffffffu;

// The tables in front of the states.
struct Tables {
  uint32_t* at;
  uint32_t* slot_of;
  uint32_t* next;   // slot_of while it is being made
  uint32_t* owner;  // of each slot
};

Tables take_tables(Carver& carver, uint32_t states, uint32_t sequences) {
  Tables tables{};
  tables.at = carver.take<uint32_t>(states);
  tables.slot_of = carver.take<uint32_t>(sequences);
  tables.next = carver.take<uint32_t>(sequences);
  tables.owner = carver.take<uint32_t>(sequences);
  return tables;
}

Tables tables_of(const SessionView& session) {
  Carver carver(session.persistent + session.states_at());
  return take_tables(carver, state_count(session.model), session.header.limits.max_sequences);
}

void empty(const StateView& state, uint32_t slot) {
  if (state.lengths) {
    state.lengths[slot] = 0;
  } else {
    const uint64_t bytes = state.form.row_stride() * sizeof(float);
    std::memset(state.data + slot * bytes, 0, bytes);
  }
}

// `count` elements of `bytes` each, from one place of an array to another.
void copy_part(uint8_t* array, uint64_t bytes, uint64_t from, uint64_t to, uint64_t count) {
  std::memcpy(array + to * bytes, array + from * bytes, count * bytes);
}

void copy_keys(const StateView& state, uint32_t from, uint32_t to) {
  const KeyForm& form = state.form.keys;
  const PackedKeys packed = state.packed();
  const uint32_t length = state.lengths[to] = state.lengths[from];
  const uint64_t whole_tiles = round_up(length, kKeyTile);
  const uint64_t values = whole_tiles < state.form.stride() ? whole_tiles : state.form.stride();
  for (uint32_t h = 0; h < form.heads; ++h) {
    const uint64_t a = h * packed.slots + from * state.form.stride();
    const uint64_t b = h * packed.slots + to * state.form.stride();
    copy_part(packed.keys, form.key_width() * form.element_bytes(), a, b, padded_keys(length));
    copy_part(packed.values, form.value_width() * form.element_bytes(), a, b, values);
    if (!form.int8) continue;
    for (void* numbers : {static_cast<void*>(packed.key_scale), static_cast<void*>(packed.key_sum),
                          static_cast<void*>(packed.value_log2), static_cast<void*>(packed.value_inverse)}) {
      copy_part(static_cast<uint8_t*>(numbers), sizeof(float), a, b, length);
    }
  }
}

void copy_slot(const StateView& state, uint32_t from, uint32_t to) {
  if (state.lengths) return copy_keys(state, from, to);
  copy_part(state.data, state.form.row_stride() * sizeof(float), from, to, 1);
}

// do_it(state) for each state that a sequence has of its own.
template <class Body>
void for_each_own_state(const SessionView& session, const Body& do_it) {
  for (uint32_t i = 0; i < state_count(session.model); ++i) {
    const StateView state = state_view(session, i, 1);
    if (state.slot_of) do_it(state);
  }
}

void copy_all(const SessionView& session, uint32_t from, uint32_t to) {
  for_each_own_state(session, [&](const StateView& state) { copy_slot(state, from, to); });
}

// The first sequence that names a parent takes over its slot; the others get copies in slots that nobody keeps.
void reorder(const SessionView& session, const uint32_t* parents, uint32_t count) {
  const uint32_t sequences = session.header.limits.max_sequences;
  const Tables tables = tables_of(session);
  for (uint32_t slot = 0; slot < sequences; ++slot) tables.owner[slot] = kNobody;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t& owner = tables.owner[tables.slot_of[parents[i]]];
    if (owner == kNobody) owner = i;
  }
  uint32_t free = 0;
  for (uint32_t i = 0; i < sequences; ++i) {
    const uint32_t parent = i < count ? tables.slot_of[parents[i]] : kNobody;
    if (i < count && tables.owner[parent] == i) {
      tables.next[i] = parent;
      continue;
    }
    while (tables.owner[free] != kNobody) ++free;
    tables.owner[free] = i;
    tables.next[i] = free;
    if (i < count) {
      copy_all(session, parent, free);
    } else {
      for_each_own_state(session, [&](const StateView& state) { empty(state, free); });
    }
  }
  std::memcpy(tables.slot_of, tables.next, sequences * sizeof(uint32_t));
}

// A state written once for each source is read: there are that many, each of them written, in this graph or before.
heed_status check_source(const SessionView& session, const Pass& pass, uint32_t node, heed_diagnostic* diagnostic) {
  const auto& nodes = *root(session.model).graphs()->Get(pass.graph)->nodes();
  const int32_t id = nodes.Get(node)->state();
  const StateView state = state_view(session, static_cast<uint32_t>(id), pass.beams);
  if (state.form.kind != schema::StateKind::kv_fixed) return HEED_OK;
  const uint32_t sources = pass.sequences / pass.beams;
  if (sources > state.form.slots) return refuse(diagnostic, HEED_TOO_LONG, "sources", sources, state.form.slots);
  for (uint32_t i = 0; i < node; ++i) {
    if (nodes.Get(i)->op() == schema::OpKind::KeyValue && nodes.Get(i)->state() == id) return HEED_OK;
  }
  for (uint32_t slot = 0; nodes.Get(node)->op() == schema::OpKind::Attention && slot < sources; ++slot) {
    if (state.lengths[slot] == 0) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "state that is read before it is written");
  }
  return HEED_OK;
}

}  // namespace

uint64_t lay_out_states(const heed_model& model, const heed_limits& limits, uint64_t at, uint32_t* units) {
  const uint32_t states = state_count(model);
  if (states == 0) return 0;
  Carver counter(nullptr);
  take_tables(counter, states, limits.max_sequences);
  uint64_t end = at + counter.used();
  for (uint32_t i = 0; i < states; ++i) {
    const StateForm form = state_form(model, static_cast<int32_t>(i), limits);
    if (units) units[i] = static_cast<uint32_t>(end / kAlignment);
    const uint64_t bytes = state_bytes(form);
    if (bytes >= kHugeState || end >= kHugeState) return kHugeState;
    if (form.has_keys()) end += round_up(form.slots * uint64_t{sizeof(uint32_t)}, kAlignment);
    end += round_up(bytes, kAlignment);
  }
  return end - at;
}

StateView state_view(const SessionView& session, uint32_t id, uint32_t beams) {
  const Tables tables = tables_of(session);
  StateView state{state_form(session.model, static_cast<int32_t>(id), session.header.limits), nullptr, nullptr, nullptr,
                  beams};
  Carver carver(session.persistent + uint64_t{tables.at[id]} * kAlignment);
  if (state.form.has_keys()) state.lengths = carver.take<uint32_t>(state.form.slots);
  state.data = carver.take<uint8_t>(0);
  if (state.form.kind != schema::StateKind::kv_fixed) state.slot_of = tables.slot_of;
  return state;
}

void start_states(const SessionView& session) {
  if (state_count(session.model) == 0) return;
  const Tables tables = tables_of(session);
  lay_out_states(session.model, session.header.limits, session.states_at(), tables.at);
  for (uint32_t i = 0; i < session.header.limits.max_sequences; ++i) tables.slot_of[i] = i;
  for (uint32_t i = 0; i < state_count(session.model); ++i) {
    const StateView state = state_view(session, i, 1);
    for (uint32_t slot = 0; slot < state.form.slots; ++slot) empty(state, slot);
  }
}

heed_status check_sources(const SessionView& session, const Pass& pass, heed_diagnostic* diagnostic) {
  if (pass.sequences % pass.beams != 0) {
    return refuse(diagnostic, HEED_INVALID_ARGUMENT, "sequences are no multiple of beams", pass.sequences, pass.beams);
  }
  const schema::Graph& graph = *root(session.model).graphs()->Get(pass.graph);
  for (uint32_t i = 0; i < graph.nodes()->size(); ++i) {
    if (graph.nodes()->Get(i)->state() < 0) continue;
    diagnostic->node = static_cast<int32_t>(i);
    if (heed_status s = check_source(session, pass, i, diagnostic)) return s;
  }
  diagnostic->node = -1;
  return HEED_OK;
}

void advance_states(const SessionView& session, const Pass& pass) {
  const schema::Graph& graph = *root(session.model).graphs()->Get(pass.graph);
  for (const schema::Node* node : *graph.nodes()) {
    if (node->state() < 0 || node->op() != schema::OpKind::Attention) continue;
    const StateView state = state_view(session, static_cast<uint32_t>(node->state()), pass.beams);
    if (state.form.kind != schema::StateKind::kv_append) continue;
    const Tensor rows = value_tensor(session, pass.graph, node->inputs()->Get(0));
    for (uint32_t s = 0; s < pass.sequences; ++s) {
      state.lengths[state.slot(s)] += rows.begin(s + 1) - rows.begin(s);
    }
  }
}

}  // namespace heed

using namespace heed;

extern "C" heed_status heed_reset(heed_session* session) {
  if (!is_planned(session)) return HEED_INVALID_ARGUMENT;
  start_states(view_of(*session));
  return HEED_OK;
}

extern "C" heed_status heed_reorder(heed_session* session, const uint32_t* parents, uint32_t count) {
  if (!is_planned(session) || (parents == nullptr && count > 0)) return HEED_INVALID_ARGUMENT;
  const SessionView view = view_of(*session);
  if (count > view.header.limits.max_sequences) return HEED_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < count; ++i) {
    if (parents[i] >= view.header.limits.max_sequences) return HEED_INVALID_ARGUMENT;
  }
  if (state_count(view.model) > 0) reorder(view, parents, count);
  return HEED_OK;
}
