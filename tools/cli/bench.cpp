// `heed bench`: how fast one sequence runs, beside what the machine could do at most.
// SPDX-License-Identifier: Apache-2.0
#include "cli/bench.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/passes.h"
#include "cli/peak.h"
#include "cli/print.h"
#include "cli/shapes.h"
#include "cli/translate.h"
#include "error.h"

namespace heed::tools {
namespace {

std::string seconds(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= 3600;  // not-a-number is not
  return good ? "" : "'" + text + "' is not a number from 0 to 3600";
}

void bench(const BenchFlags& given) {
  constexpr uint32_t kDefaultRows = 128;
  const Model model(given.path);
  BenchFlags flags = given;
  SessionFlags& session_flags = flags.session;
  if (session_flags.rows == 0) session_flags.rows = std::min(kDefaultRows, model.max_sequence_rows());
  if (is_translator(model)) return bench_translator(model, flags);
  if (flags.generate || session_flags.beams) throw Error(model.path() + ": --generate and --beams are of use only for a model with the graphs encode and decode, which this one does not have");
  const heed_limits limits = make_limits(model, session_flags);
  const double start_ms = open_plan_ms(flags, limits);

  Session session(model, limits, session_flags);
  const std::vector<Sequence> sequences = {sequence_of_noise(model, session_flags.rows, kNoiseSeed)};
  const Batch batch(model.graph(), sequences, {0});
  Int8Peak of_a_core(session.isa());
  const Measured measured = measure(flags.seconds, [&] { session.run(batch.pass()); }, [&] { of_a_core.sample(); });
  const double peak = of_a_core.gmac_per_s() * session_flags.threads;
  const double gmac = static_cast<double>(total_multiply_adds(model, model.graph_place(), limits)) * 1e-9;
  const double gmac_per_s = gmac / (measured.min_ms * 1e-3);

  if (flags.json) {
    return print_json({{"file", flags.path}, {"rows", session_flags.rows}, {"threads", session_flags.threads}, {"tile_rows", limits.tile_rows},
                       {"isa", session.isa()}, {"runs", measured.runs}, {"min_ms", measured.min_ms}, {"median_ms", measured.median_ms},
                       {"gmac", gmac}, {"gmac_per_s", gmac_per_s}, {"int8_peak_gmac_per_s", peak}, {"peak_fraction", gmac_per_s / peak},
                       {"arena_bytes", session.arena_bytes()}, {"open_plan_ms", start_ms}});
  }
  Table table({"rows", "threads", "isa", "runs", "min ms", "median ms", "gmac", "gmac/s", "int8 peak", "of peak", "arena bytes", "open+plan ms"});
  table.add({std::to_string(session_flags.rows), std::to_string(session_flags.threads), session.isa(), std::to_string(measured.runs),
             fixed(measured.min_ms, 3), fixed(measured.median_ms, 3), fixed(gmac, 3), fixed(gmac_per_s, 1), fixed(peak, 1),
             fixed(100 * gmac_per_s / peak, 1) + " %", grouped(session.arena_bytes()), fixed(start_ms, 3)});
  print(table.text());
}

}  // namespace

// The file is in the page cache.
double open_plan_ms(const BenchFlags& flags, const heed_limits& limits) {
  double least = 1e30;
  for (int i = 0; i < 5; ++i) {
    const Model model(flags.path);
    const Session session(model, limits, flags.session);
    least = std::min(least, (model.open_seconds() + session.plan_seconds()) * 1e3);
  }
  return least;
}

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Time one sequence, beside the machine's own limit");
  auto flags = std::make_shared<BenchFlags>();
  command->add_option("model", flags->path, "Model file")->required()->type_name("m.heed");
  command->add_option("--seconds", flags->seconds, "How long to measure, at least (default 2.5)")->check(seconds)->type_name("S");
  command->add_flag("--json", flags->json, "One JSON object");
  command->add_option("--generate", flags->generate, "Of a translator: tokens of the output (default 32)")->check(whole_number(1, 1u << 20))->type_name("N");
  add_session_flags(*command, flags->session, {Flag::kRows, Flag::kBeams, Flag::kThreads, Flag::kTileRows, Flag::kIsa, Flag::kPrecision});
  command->footer("Example:\n  heed bench build/models/minilm.heed --rows 128 --threads 2\n  heed bench build/models/translator.heed --rows 6 --generate 8 --beams 4");
  command->callback([flags] { bench(*flags); });
}

}  // namespace heed::tools
