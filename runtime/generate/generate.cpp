// heed_generate and heed_retrace: `encode` once, then `decode` step by step, through the session's public functions.
// SPDX-License-Identifier: Apache-2.0
#include "heed/generate.h"

#include <cstring>

#include "generate/search.h"
#include "model/diagnostic.h"
#include "session/plan.h"

namespace heed {
namespace {

constexpr uint32_t kMostBeams = 1024;
constexpr uint32_t kMostTokens = 1u << 20;
constexpr float kMostPenalty = 4.0f;

// The graphs of an encoder-decoder; each has one input, of ids.
struct Translator {
  const schema::Graph* encode;
  const schema::Graph* decode;
};

heed_status find_graph(const heed_model& model, const char* name, const schema::Graph** graph, heed_diagnostic* diagnostic) {
  for (const schema::Graph* one : *root(model).graphs()) {
    if (std::strcmp(one->name()->c_str(), name) != 0) continue;
    const auto& inputs = *one->inputs();
    if (inputs.size() != 1 || inputs.Get(0)->type() != schema::ElementType::i32) break;
    *graph = one;
    return HEED_OK;
  }
  return refuse(diagnostic, HEED_UNSUPPORTED, name[0] == 'e' ? "it has no graph `encode` with one input of ids"
                                                             : "it has no graph `decode` with one input of ids");
}

heed_status check_options(const heed_generate_options* options, heed_diagnostic* diagnostic) {
  if (!options) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "options");
  if (options->size != sizeof *options) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "size", options->size, sizeof *options);
  if (options->beams < 1 || options->beams > kMostBeams) {
    return refuse(diagnostic, HEED_INVALID_ARGUMENT, "beams", options->beams, kMostBeams);
  }
  if (options->max_tokens < 1 || options->max_tokens > kMostTokens) {
    return refuse(diagnostic, HEED_INVALID_ARGUMENT, "max_tokens", options->max_tokens, kMostTokens);
  }
  if (!(options->length_penalty >= -kMostPenalty && options->length_penalty <= kMostPenalty)) {
    return refuse(diagnostic, HEED_INVALID_ARGUMENT, "length_penalty");
  }
  if (options->early_stopping > HEED_EARLY_STOPPING_NEVER) {
    return refuse(diagnostic, HEED_INVALID_ARGUMENT, "early_stopping", options->early_stopping, HEED_EARLY_STOPPING_NEVER);
  }
  if (options->suppressed_count > 0 && !options->suppressed) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "suppressed");
  return HEED_OK;
}

// What the session's limits say about the hypotheses and the tokens that its states keep.
heed_status check_limits(const heed_session& session, uint32_t beams, uint32_t tokens, heed_diagnostic* diagnostic) {
  const heed_model& model = *session.model;
  const heed_limits& limits = view_of(session).header.limits;
  if (beams > limits.beams) return refuse(diagnostic, HEED_TOO_LONG, "beams", beams, limits.beams);  // rows and sequences are no fewer
  const uint32_t states = root(model).states() == nullptr ? 0 : root(model).states()->size();
  for (uint32_t i = 0; i < states; ++i) {
    const schema::State& state = *root(model).states()->Get(i);
    const uint32_t rows = state.rows() > 0 && state.rows() < limits.max_context ? state.rows() : limits.max_context;
    if (state.kind() == schema::StateKind::kv_append && tokens > rows) {
      return refuse(diagnostic, HEED_TOO_LONG, "tokens", tokens, rows);
    }
  }
  return HEED_OK;
}

// Everything about a task but its block. Empties the session's states.
heed_status check_task(heed_session* session, const heed_generation* task, Translator* translator, heed_diagnostic* diagnostic) {
  if (heed_reset(session) != HEED_OK) {
    return refuse(diagnostic, HEED_INVALID_ARGUMENT, "session not planned, or its arena planned again");
  }
  if (!task) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "task");
  if (heed_status s = check_options(task->options, diagnostic)) return s;
  if (heed_status s = find_graph(*session->model, "encode", &translator->encode, diagnostic)) return s;
  if (heed_status s = find_graph(*session->model, "decode", &translator->decode, diagnostic)) return s;
  if (!task->source || task->source_count == 0) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "source", 0, 1);
  if (task->options->start_token > INT32_MAX) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "start_token");
  return HEED_OK;
}

// A run of a graph on its one input.
heed_pass pass_of(const schema::Graph& graph, heed_input* input, const int32_t* ids, uint32_t rows) {
  *input = {graph.inputs()->Get(0)->name()->c_str(), ids, rows, nullptr};
  heed_pass pass{};
  pass.size = sizeof pass;
  pass.graph = graph.name()->c_str();
  pass.inputs = input;
  pass.inputs_count = 1;
  return pass;
}

heed_status encode(heed_session* session, const Translator& translator, const heed_generation& task, heed_diagnostic* diagnostic) {
  heed_input input;
  const heed_pass pass = pass_of(*translator.encode, &input, task.source, task.source_count);
  return heed_run(session, &pass, diagnostic);
}

// One token of each hypothesis; every sequence has one row, so the lengths are a run of ones.
heed_status decode(heed_session* session, const Translator& translator, const BeamSearch& search, heed_output* logits,
                   heed_diagnostic* diagnostic) {
  heed_input input;
  heed_pass pass = pass_of(*translator.decode, &input, search.last_tokens(), search.live());
  input.lengths = search.ones();
  pass.sequences = pass.beams = search.live();
  if (heed_status s = heed_run(session, &pass, diagnostic)) return s;
  return heed_get_output(session, 0, logits);
}

heed_status search_all(heed_session* session, const Translator& translator, BeamSearch& search, const heed_generate_options& options,
                       heed_diagnostic* diagnostic) {
  for (search.start(); search.going();) {
    if (heed_status s = heed_reorder(session, search.parents(), search.live())) return s;
    heed_output logits;
    if (heed_status s = decode(session, translator, search, &logits, diagnostic)) return s;
    for (const uint32_t token : {options.forced_first, options.forced_last}) {
      if (token == HEED_NO_TOKEN || token < logits.features) continue;
      return refuse(diagnostic, HEED_INVALID_ARGUMENT, "forced token", token, logits.features);
    }
    if (logits.rows != search.live()) return refuse(diagnostic, HEED_BAD_SHAPE, "rows of `decode`", logits.rows, search.live());
    if (!search.step({*static_cast<const Kernels*>(session->kernels), logits.data, logits.rows, logits.features, logits.stride})) {
      return refuse(diagnostic, HEED_BAD_INPUT, "logits that are not numbers");
    }
  }
  return HEED_OK;
}

// Tells the caller's tap which token a weight belongs to.
struct StepTap {
  const heed_retrace_tap* tap;
  uint32_t step;
};

void tap_step(void* context, uint32_t node, uint32_t sequence, uint32_t head, uint32_t query, uint32_t first_key, uint32_t count,
              const float* weights) {
  const StepTap& step = *static_cast<const StepTap*>(context);
  step.tap->tap(step.tap->context, node, sequence, head, step.step + query, first_key, count, weights);
}

// What states that grow can hold; without such, what the file says; an output as long as the longest input, else.
uint32_t default_tokens(const heed_model& model) {
  heed_limits limits;
  heed_default_limits(&model, &limits);
  if (limits.max_context > 0) return limits.max_context;
  const schema::Metadata* metadata = root(model).metadata();
  return metadata && metadata->max_context() > 0 ? metadata->max_context() : limits.max_sequence_rows;
}

// What the file says about searches in place of what `options` has.
void take_defaults(const schema::Generation& said, heed_generate_options* options) {
  options->beams = said.beams();
  if (said.max_tokens() > 0 && said.max_tokens() < options->max_tokens) options->max_tokens = said.max_tokens();
  options->min_tokens = said.min_tokens();
  options->length_penalty = said.length_penalty();
  if (said.start_token() != HEED_NO_TOKEN) options->start_token = said.start_token();
  if (said.stop_token() != HEED_NO_TOKEN) options->stop_token = said.stop_token();
  options->forced_first = said.forced_first();
  options->forced_last = said.forced_last();
  options->no_repeat = said.no_repeat();
  options->early_stopping = static_cast<uint32_t>(said.early_stopping());
  if (!said.suppressed()) return;
  options->suppressed_count = said.suppressed()->size();
  options->suppressed = said.suppressed()->data();
}

}  // namespace
}  // namespace heed

using namespace heed;

extern "C" void heed_default_generate_options(const heed_model* model, heed_generate_options* options) {
  if (!options) return;
  *options = {sizeof *options, 1, 1, 0, 0.0f, 0, HEED_NO_TOKEN, HEED_NO_TOKEN, HEED_NO_TOKEN, 0, HEED_EARLY_STOPPING_OFF, 0, nullptr};
  if (!model || !model->root) return;
  const uint32_t tokens = default_tokens(*model);
  options->max_tokens = tokens < kMostTokens ? tokens : kMostTokens;
  const schema::Tokenizer* target = root(*model).target_tokenizer();
  if (target && target->prefix() && target->prefix()->size() > 0) options->start_token = target->prefix()->Get(0);
  if (target && target->suffix() && target->suffix()->size() > 0) options->stop_token = target->suffix()->Get(0);
  if (const schema::Generation* said = root(*model).generation()) take_defaults(*said, options);
}

extern "C" heed_status heed_generate_bytes(const heed_generate_options* options, uint64_t* bytes, heed_diagnostic* diagnostic) {
  Report report(diagnostic);
  if (!bytes) return report.done(refuse(report.get(), HEED_INVALID_ARGUMENT, "bytes"));
  *bytes = 0;
  if (heed_status s = check_options(options, report.get())) return report.done(s);
  *bytes = BeamSearch(*options, nullptr).bytes();
  return report.done(HEED_OK);
}

extern "C" heed_status heed_generate(heed_session* session, const heed_generation* task, heed_generated* output,
                                     heed_diagnostic* diagnostic) {
  Report report(diagnostic);
  if (!output) return report.done(refuse(report.get(), HEED_INVALID_ARGUMENT, "output"));
  *output = {};
  Translator translator;
  if (heed_status s = check_task(session, task, &translator, report.get())) return report.done(s);
  const heed_generate_options& options = *task->options;
  if (heed_status s = check_limits(*session, options.beams, options.max_tokens, report.get())) return report.done(s);
  const uint64_t needed = BeamSearch(options, nullptr).bytes();
  if (!task->block || task->block_bytes < needed) {
    report->bytes_needed = static_cast<int64_t>(needed);
    return report.done(refuse(report.get(), HEED_BUFFER_TOO_SMALL, "block"));
  }
  if (reinterpret_cast<uintptr_t>(task->block) % HEED_ALIGNMENT != 0) {
    return report.done(refuse(report.get(), HEED_MISALIGNED, "block"));
  }
  if (heed_status s = encode(session, translator, *task, report.get())) return report.done(s);
  BeamSearch search(options, static_cast<uint8_t*>(task->block));
  if (heed_status s = search_all(session, translator, search, options, report.get())) return report.done(s);
  search.finish(output);
  return report.done(HEED_OK);
}

extern "C" heed_status heed_retrace(heed_session* session, const heed_generation* task, const uint32_t* tokens, uint32_t count,
                                    const heed_retrace_tap* tap, heed_diagnostic* diagnostic) {
  Report report(diagnostic);
  Translator translator;
  if (heed_status s = check_task(session, task, &translator, report.get())) return report.done(s);
  if ((!tokens && count > 0) || !tap || !tap->tap) return report.done(refuse(report.get(), HEED_INVALID_ARGUMENT, "tokens or tap"));
  if (count >= kMostTokens) return report.done(refuse(report.get(), HEED_TOO_LONG, "tokens", count, kMostTokens - 1));
  if (heed_status s = check_limits(*session, 1, count, report.get())) return report.done(s);
  if (heed_status s = encode(session, translator, *task, report.get())) return report.done(s);
  for (uint32_t i = 0; i < count; ++i) {
    const auto id = static_cast<int32_t>(i == 0 ? task->options->start_token : tokens[i - 1]);
    StepTap step{tap, i};
    heed_input input;
    heed_pass pass = pass_of(*translator.decode, &input, &id, 1);
    pass.tap = tap_step;
    pass.tap_context = &step;
    if (heed_status s = heed_run(session, &pass, report.get())) return report.done(s);
  }
  return report.done(HEED_OK);
}
