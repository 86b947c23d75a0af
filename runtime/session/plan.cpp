// heed_required_bytes and heed_plan: limits, sizes of both parts, the session's tables.
// SPDX-License-Identifier: Apache-2.0
#include "session/plan.h"

#include <cstring>

#include "model/diagnostic.h"
#include "model/open.h"
#include "model/validate.h"
#include "model/xxh64.h"
#include "session/states.h"

namespace heed {
namespace {

constexpr uint32_t kMaxWorkers = 256;
constexpr uint64_t kMostStateBytes = uint64_t{1} << 37;  // so that a u32 can count units of kAlignment

// The greatest max_context that is of use: what the states which are appended to can hold. 0: there are none.
uint32_t most_context(const heed_model& model) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < state_count(model); ++i) {
    const schema::State& state = *root(model).states()->Get(i);
    const uint32_t rows = state.rows() > 0 ? state.rows() : kMaxRows;
    if (state.kind() == schema::StateKind::kv_append && rows > most) most = rows;
  }
  return most;
}

heed_status check_limits(const heed_model& model, const heed_limits& limits, heed_diagnostic* diagnostic) {
  if (limits.size != sizeof limits) {
    return refuse(diagnostic, HEED_BAD_LIMITS, "size", limits.size, sizeof limits);
  }
  const uint32_t context = most_context(model);
  const struct {
    const char* name;
    uint32_t value;
    uint32_t least;
    uint32_t most;
  } bounds[] = {{"max_rows", limits.max_rows, 1, kMaxRows},
                {"max_sequences", limits.max_sequences, 1, limits.max_rows},
                {"max_sequence_rows", limits.max_sequence_rows, 1, model_sequence_rows(model)},
                {"max_context", limits.max_context, context > 0 ? 1u : 0u, context},
                {"beams", limits.beams, 1, state_count(model) > 0 ? limits.max_sequences : 1},
                {"workers", limits.workers, 1, kMaxWorkers},
                {"tile_rows", limits.tile_rows, 8, kMaxTileRows},
                {"precision", limits.precision, HEED_PRECISION_AUTO, HEED_PRECISION_F32},
                {"cache_format", limits.cache_format, 0, 0}};
  for (const auto& bound : bounds) {
    if (bound.value < bound.least) return refuse(diagnostic, HEED_BAD_LIMITS, bound.name, bound.value, bound.least);
    if (bound.value > bound.most) return refuse(diagnostic, HEED_BAD_LIMITS, bound.name, bound.value, bound.most);
  }
  if (limits.tile_rows % 8 != 0) return refuse(diagnostic, HEED_BAD_LIMITS, "tile_rows", limits.tile_rows, 8);
  return HEED_OK;
}

// The whole figure; `limits` have been checked.
heed_status measure(const heed_model& model, const heed_limits& limits, heed_memory* memory,
                    heed_diagnostic* diagnostic) {
  GraphRoom worst;
  for (uint32_t i = 0; i < root(model).graphs()->size(); ++i) {
    GraphRoom room;
    if (heed_status s = lay_out(model, i, limits, {}, &room, diagnostic)) return s;
    if (room.live_peak < worst.live_peak) room.live_peak = worst.live_peak;
    const uint64_t peak = room.live_peak;
    if (room.transient > worst.transient) worst = room;
    worst.live_peak = peak;
  }
  const PersistentPart persistent = lay_out_persistent(model, limits);
  if (persistent.state_bytes > kMostStateBytes) {
    return refuse(diagnostic, HEED_TOO_LARGE, "memory of the states", -1, static_cast<int64_t>(kMostStateBytes));
  }
  memory->persistent_bytes = persistent.bytes;
  memory->state_bytes = persistent.state_bytes;
  memory->transient_bytes = worst.transient * kAlignment;
  memory->total_bytes = memory->persistent_bytes + memory->transient_bytes;
  memory->activation_bytes = worst.activations * kAlignment;
  memory->workspace_bytes = worst.workspace * kAlignment;
  memory->scratch_bytes = worst.scratch * kAlignment;
  memory->live_peak_bytes = memory->persistent_bytes + worst.live_peak * kAlignment;
  return HEED_OK;
}

heed_status required_bytes(const heed_model* model, const heed_limits* limits, heed_memory* memory,
                           heed_diagnostic* diagnostic) {
  if (model == nullptr || model->root == nullptr) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "model");
  if (limits == nullptr) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "limits");
  if (heed_status s = check_limits(*model, *limits, diagnostic)) return s;
  return measure(*model, *limits, memory, diagnostic);
}

// One block that the caller gave for `needed` bytes.
heed_status check_block(const void* block, uint64_t bytes, uint64_t needed, heed_diagnostic* diagnostic) {
  diagnostic->bytes_needed = static_cast<int64_t>(needed);
  if (needed > UINTPTR_MAX / 2) return refuse(diagnostic, HEED_TOO_LARGE, "arena", -1, INTPTR_MAX);
  if (bytes < needed) {
    return refuse(diagnostic, HEED_ARENA_TOO_SMALL, "arena", static_cast<int64_t>(bytes), static_cast<int64_t>(needed));
  }
  if (block == nullptr && needed > 0) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "arena");
  if (reinterpret_cast<uintptr_t>(block) % kAlignment != 0) return refuse(diagnostic, HEED_MISALIGNED, "arena");
  diagnostic->bytes_needed = -1;
  return HEED_OK;
}

// Differs between the plans of any two sessions, and between any two of one session that differ in what matters to a run.
uint64_t make_stamp(const heed_session& session, const heed_limits& limits) {
  Xxh64 hash(file_checksum(*session.model));
  const uint64_t places[] = {reinterpret_cast<uintptr_t>(&session),
                             reinterpret_cast<uintptr_t>(session.persistent),
                             reinterpret_cast<uintptr_t>(session.transient),
                             reinterpret_cast<uintptr_t>(session.model->bytes),
                             reinterpret_cast<uintptr_t>(session.kernels)};
  hash.update(places, sizeof places);
  hash.update(&limits, sizeof limits);
  return hash.digest();
}

// Writes the persistent part. Everything has been checked and measured, so the walk cannot fail again.
void write_session(const heed_limits& limits, uint64_t transient_bytes, heed_session* session) {
  const heed_model& model = *session->model;
  const PersistentPart part = lay_out_persistent(model, limits);
  std::memset(session->persistent, 0, static_cast<size_t>(part.bytes));
  SessionHeader& header = *reinterpret_cast<SessionHeader*>(session->persistent);
  header.stamp = session->stamp = make_stamp(*session, limits);
  header.limits = limits;
  header.transient_units = static_cast<uint32_t>(transient_bytes / kAlignment);
  std::memcpy(header.values_at, part.values_at, sizeof header.values_at);
  std::memcpy(header.nodes_at, part.nodes_at, sizeof header.nodes_at);
  header.axes_at = part.axes_at;
  header.axes = part.axes;
  for (uint32_t i = 0; i < root(model).graphs()->size(); ++i) {
    const Recorder recorder{reinterpret_cast<ValueRecord*>(session->persistent + part.values_at[i]),
                            reinterpret_cast<NodeRecord*>(session->persistent + part.nodes_at[i])};
    GraphRoom room;
    heed_diagnostic ignored = no_diagnostic();
    lay_out(model, i, limits, recorder, &room, &ignored);
  }
  start_states({model, header, session->persistent, session->transient});
}

}  // namespace

uint32_t model_sequence_rows(const heed_model& model) {
  uint32_t most = 1;
  for (const schema::Graph* graph : *root(model).graphs()) {
    for (const schema::GraphInput* input : *graph->inputs()) most = input->max_rows() > most ? input->max_rows() : most;
  }
  return most;
}

uint32_t default_context(const heed_model& model) {
  const uint32_t most = most_context(model);
  const schema::Metadata* metadata = root(model).metadata();
  const uint32_t asked = metadata && metadata->max_context() > 0 ? metadata->max_context() : most;
  const uint32_t rows = most == kMaxRows && asked == most ? model_sequence_rows(model) : asked;
  return rows < most ? rows : most;
}

PersistentPart lay_out_persistent(const heed_model& model, const heed_limits& limits) {
  PersistentPart part{};
  uint64_t at = sizeof(SessionHeader);
  uint32_t index = 0;
  for (const schema::Graph* graph : *root(model).graphs()) {
    part.values_at[index] = static_cast<uint32_t>(at);
    at += uint64_t{graph->values()} * sizeof(ValueRecord);
    part.nodes_at[index] = static_cast<uint32_t>(at);
    at += uint64_t{graph->nodes()->size()} * sizeof(NodeRecord);
    for (const schema::GraphInput* input : *graph->inputs()) {
      if (input->axis() >= part.axes) part.axes = input->axis() + 1u;
    }
    ++index;
  }
  part.axes_at = static_cast<uint32_t>(at);
  part.states_at = states_at(at, part.axes, limits);
  part.state_bytes = lay_out_states(model, limits, part.states_at, nullptr);
  part.bytes = part.states_at + part.state_bytes;
  return part;
}

bool is_planned(const heed_session* session) {
  if (session == nullptr || session->model == nullptr || session->persistent == nullptr) return false;
  return reinterpret_cast<const SessionHeader*>(session->persistent)->stamp == session->stamp;
}

}  // namespace heed

using namespace heed;

extern "C" heed_status heed_required_bytes(const heed_model* model, const heed_limits* limits, heed_memory* memory,
                                           heed_diagnostic* diagnostic) {
  Report report(diagnostic);
  if (memory == nullptr) return report.done(refuse(report.get(), HEED_INVALID_ARGUMENT, "memory"));
  *memory = {};
  return report.done(required_bytes(model, limits, memory, report.get()));
}

extern "C" heed_status heed_plan_split(const heed_model* model, const heed_limits* limits, void* persistent,
                                       uint64_t persistent_bytes, void* transient, uint64_t transient_bytes,
                                       const heed_platform* platform, heed_session* session,
                                       heed_diagnostic* diagnostic) {
  Report report(diagnostic);
  if (session == nullptr) return report.done(refuse(report.get(), HEED_INVALID_ARGUMENT, "session"));
  *session = {};
  heed_memory memory{};
  if (heed_status s = required_bytes(model, limits, &memory, report.get())) return report.done(s);
  if (heed_status s = check_block(persistent, persistent_bytes, memory.persistent_bytes, report.get())) {
    return report.done(s);
  }
  if (heed_status s = check_block(transient, transient_bytes, memory.transient_bytes, report.get())) {
    return report.done(s);
  }
  const Kernels* kernels = find_kernels(platform ? platform->isa : nullptr);
  if (kernels == nullptr) return report.done(refuse(report.get(), HEED_ISA, "isa"));
  *session = {model, static_cast<uint8_t*>(persistent), static_cast<uint8_t*>(transient), platform, kernels, 0, -1};
  write_session(*limits, memory.transient_bytes, session);
  return report.done(HEED_OK);
}

extern "C" heed_status heed_plan(const heed_model* model, const heed_limits* limits, void* arena,
                                 uint64_t arena_bytes, const heed_platform* platform, heed_session* session,
                                 heed_diagnostic* diagnostic) {
  Report report(diagnostic);
  if (session == nullptr) return report.done(refuse(report.get(), HEED_INVALID_ARGUMENT, "session"));
  *session = {};
  heed_memory memory{};
  if (heed_status s = required_bytes(model, limits, &memory, report.get())) return report.done(s);
  if (heed_status s = check_block(arena, arena_bytes, memory.total_bytes, report.get())) return report.done(s);
  uint8_t* block = static_cast<uint8_t*>(arena);
  return heed_plan_split(model, limits, block, memory.persistent_bytes, block + memory.persistent_bytes,
                         memory.transient_bytes, platform, session, diagnostic);
}
