// heed_run: hands the tiles of every node to the platform, phase after phase.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "model/diagnostic.h"
#include "session/float_control.h"
#include "session/guards.h"
#include "session/states.h"
#include "session/step.h"

namespace heed {
namespace {

// All tiles of one phase.
struct Job {
  const PreparedStep& prepared;
  uint32_t phase;
  uint32_t workers;
  std::atomic<bool> overrun{false};
};

void run_tile(void* data, uint32_t tile, uint32_t worker) {
  Job& job = *static_cast<Job*>(data);
  if (worker >= job.workers) {  // a platform with more threads than limits.workers: it has no scratch
    job.overrun.store(true, std::memory_order_relaxed);
    return;
  }
  const FloatControl ieee;
  const PreparedStep& prepared = job.prepared;
  const Kernels& kernels = prepared.step.kernels;
  if (kernels.enter != nullptr) kernels.enter();
  prepared.op->tile(prepared.step, job.phase, tile, prepared.scratch + worker * prepared.scratch_stride);
  if (kernels.leave != nullptr) kernels.leave();
}

bool run_phase(const heed_session& session, const PreparedStep& prepared, uint32_t phase) {
  Job job{prepared, phase, prepared.step.limits.workers};
  const uint32_t tiles = prepared.op->tiles(prepared.step, phase);
  const heed_platform* platform = session.platform;
  if (platform != nullptr && platform->run != nullptr && tiles > 1 && job.workers > 1) {
    platform->run(platform->context, tiles, run_tile, &job);
  } else {
    for (uint32_t tile = 0; tile < tiles; ++tile) run_tile(&job, tile, 0);
  }
  return !job.overrun.load(std::memory_order_relaxed);
}

heed_status run_node(const heed_session& session, const PreparedStep& prepared, heed_diagnostic* diagnostic) {
  bool enough_workers = true;
  guard_node(prepared);
  for (uint32_t phase = 0; phase < prepared.op->phases && enough_workers; ++phase) {
    enough_workers = run_phase(session, prepared, phase);
  }
  if (heed_status s = check_node(session, prepared, diagnostic)) return s;
  if (enough_workers) return HEED_OK;
  return refuse(diagnostic, HEED_INVALID_ARGUMENT, "platform has more workers than limits.workers");
}

heed_status run_graph(const heed_session& session, const SessionView& view, const Pass& pass,
                      heed_diagnostic* diagnostic) {
  const Kernels& kernels = *static_cast<const Kernels*>(session.kernels);
  const uint32_t nodes = root(view.model).graphs()->Get(pass.graph)->nodes()->size();
  for (uint32_t node = 0; node < nodes; ++node) {
    if (heed_status s = run_node(session, prepare_step(view, kernels, pass, node), diagnostic)) return s;
  }
  return check_outputs(session, pass, diagnostic);
}

}  // namespace

}  // namespace heed

using namespace heed;

extern "C" heed_status heed_run(heed_session* session, const heed_pass* given, heed_diagnostic* diagnostic) {
  Report report(diagnostic);
  if (!is_planned(session)) {
    return report.done(refuse(report.get(), HEED_INVALID_ARGUMENT, "session not planned, or its arena planned again"));
  }
  if (given == nullptr) return report.done(refuse(report.get(), HEED_INVALID_ARGUMENT, "pass"));
  session->graph = -1;
  const SessionView view = view_of(*session);
  Pass pass;
  if (heed_status s = prepare_pass(view, *given, &pass, report.get())) return report.done(s);
  if (heed_status s = check_sources(view, pass, report.get())) return report.done(s);
  const Kernels& kernels = *static_cast<const Kernels*>(session->kernels);
  if (heed_status s = check_inputs(view, kernels, pass, report.get())) return report.done(s);
  copy_inputs(view, pass);
  guard_inputs(view, pass);
  if (heed_status s = run_graph(*session, view, pass, report.get())) return report.done(s);
  advance_states(view, pass);
  session->graph = static_cast<int32_t>(pass.graph);
  return report.done(HEED_OK);
}

extern "C" heed_status heed_get_output(const heed_session* session, uint32_t index, heed_output* output) {
  if (output == nullptr) return HEED_INVALID_ARGUMENT;
  *output = {};
  if (!is_planned(session) || session->graph < 0) return HEED_INVALID_ARGUMENT;
  const uint32_t graph = static_cast<uint32_t>(session->graph);
  const auto& outputs = *root(*session->model).graphs()->Get(graph)->outputs();
  if (index >= outputs.size()) return HEED_INVALID_ARGUMENT;
  const Tensor tensor = value_tensor(view_of(*session), graph, outputs.Get(index)->value());
  *output = {outputs.Get(index)->name()->c_str(), tensor.data, tensor.rows, tensor.features, tensor.stride};
  return HEED_OK;
}
