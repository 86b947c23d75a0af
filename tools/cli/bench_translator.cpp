// `heed bench` of an encoder-decoder: the input once, then token by token.
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "cli/bench.h"
#include "cli/passes.h"
#include "cli/peak.h"
#include "cli/print.h"
#include "cli/shapes.h"
#include "cli/translate.h"
#include "error.h"
#include "model/weight.h"

namespace heed::tools {
namespace {

constexpr uint32_t kDefaultTokens = 32;

// Bytes of the weights that one run of `decode` reads as a whole: all but tables, of which it takes a row.
uint64_t decode_weight_bytes(const Model& model) {
  const flatbuffers::Vector<flatbuffers::Offset<schema::Node>>& nodes = *graph_named(model, "decode").nodes();
  std::set<int32_t> read;
  for (const schema::Node* node : nodes) {
    for (const int32_t id : {node->weight(), node->query(), node->key(), node->value(), node->output(), node->up(), node->gate(), node->down(),
                             node->recurrent()}) {
      if (id >= 0) read.insert(id);
    }
  }
  uint64_t bytes = 0;
  for (const int32_t id : read) bytes += weight_parts(*model.tables().weights()->Get(static_cast<uint32_t>(id))).data;
  return bytes;
}

heed_generate_options options_for(const Model& model, const BenchFlags& flags) {
  heed_generate_options options;
  heed_default_generate_options(&model.handle(), &options);
  options.beams = flags.session.beams ? flags.session.beams : 1;
  options.max_tokens = flags.generate.value_or(kDefaultTokens);
  options.stop_token = HEED_NO_TOKEN;  // so that there are as many tokens as asked for
  check_max_tokens(model, options.max_tokens, "--generate");
  return options;
}

// Linear layers and attention of an input and its output.
double gmac_of(const Model& model, const heed_limits& limits, const heed_generate_options& options, uint32_t rows) {
  const auto sum = [&](const char* graph, const heed_limits& of) {
    return static_cast<double>(total_multiply_adds(model, graph_index(model, graph), of)) * 1e-9;
  };
  heed_limits one = limits;
  one.max_rows = one.max_sequence_rows = rows;
  one.max_sequences = one.beams = 1;
  double gmac = sum("encode", one);
  for (uint32_t token = 1; token <= options.max_tokens; ++token) {
    heed_limits step = one;
    step.max_rows = step.max_sequences = step.beams = token == 1 ? 1 : options.beams;
    if (step.max_context) step.max_context = token;
    gmac += sum("decode", step);
  }
  return gmac;
}

}  // namespace

void bench_translator(const Model& model, const BenchFlags& flags) {
  const uint32_t rows = flags.session.rows;
  const heed_generate_options options = options_for(model, flags);
  Translator translator(model, flags.session, options, rows);
  Session& session = translator.session();
  const heed_limits& limits = session.limits();
  const double start_ms = open_plan_ms(flags, limits);
  const std::vector<Sequence> sequences = {sequence_of_noise(model, rows, kNoiseSeed)};
  const std::vector<int32_t>& ids = sequences[0][0].ids;
  const Batch batch(model.graph(), sequences, {0});
  const heed_pass encode = batch.pass();
  Int8Peak of_a_core(session.isa());
  const double read_peak = read_peak_gb_per_s();
  const Measured whole = measure(flags.seconds, [&] { translator.search(ids); }, [&] { of_a_core.sample(); });
  const double peak = of_a_core.gmac_per_s() * flags.session.threads;
  const Measured prefill = measure(flags.seconds / 5, [&] { session.run(encode); }, [&] { heed_reset(session.handle()); });
  const double decode_s = (whole.min_ms - prefill.min_ms) * 1e-3;
  const double tokens_per_s = options.max_tokens / decode_s;
  const double read = static_cast<double>(decode_weight_bytes(model)) * 1e-9 * tokens_per_s;
  const double gmac = gmac_of(model, limits, options, rows);
  const double gmac_per_s = gmac / (whole.min_ms * 1e-3);

  if (flags.json) {
    return print_json({{"file", flags.path}, {"rows", rows}, {"generate", options.max_tokens}, {"beams", options.beams},
                       {"threads", flags.session.threads}, {"tile_rows", limits.tile_rows}, {"isa", session.isa()}, {"runs", whole.runs},
                       {"min_ms", whole.min_ms}, {"median_ms", whole.median_ms}, {"gmac", gmac}, {"gmac_per_s", gmac_per_s},
                       {"int8_peak_gmac_per_s", peak}, {"peak_fraction", gmac_per_s / peak},
                       {"prefill_tokens_per_s", rows / (prefill.min_ms * 1e-3)}, {"decode_tokens_per_s", tokens_per_s},
                       {"read_gb_per_s", read}, {"read_peak_gb_per_s", read_peak}, {"arena_bytes", session.arena_bytes()},
                       {"generator_bytes", translator.block_bytes()}, {"open_plan_ms", start_ms}});
  }
  Table table({"rows", "generate", "beams", "threads", "isa", "runs", "min ms", "median ms", "prefill/s", "decode/s", "read GB/s", "of", "arena bytes", "open+plan ms"});
  table.add({std::to_string(rows), std::to_string(options.max_tokens), std::to_string(options.beams), std::to_string(flags.session.threads),
             session.isa(), std::to_string(whole.runs), fixed(whole.min_ms, 3), fixed(whole.median_ms, 3), fixed(rows / (prefill.min_ms * 1e-3), 0),
             fixed(tokens_per_s, 0), fixed(read, 1), fixed(read_peak, 1), grouped(session.arena_bytes()), fixed(start_ms, 3)});
  print(table.text());
}

}  // namespace heed::tools
