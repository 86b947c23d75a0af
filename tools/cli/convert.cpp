// `heed convert`: a checkpoint becomes one model file.
// SPDX-License-Identifier: Apache-2.0
#include "convert/convert.h"

#include <memory>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/print.h"

namespace heed::tools {
namespace {

void convert_checkpoint(const ConvertOptions& options, bool json) {
  const ConvertReport report = convert(options);
  print(json ? report_json(report) + "\n" : report_text(report));
}

}  // namespace

void add_convert(CLI::App& app) {
  CLI::App* command = app.add_subcommand("convert", "Turn a checkpoint into a model file");
  auto options = std::make_shared<ConvertOptions>();
  auto json = std::make_shared<bool>(false);
  command->add_option("source", options->source, "A Hugging Face folder, or a graph folder (graph.json + weights.safetensors)")
      ->required()->type_name("SRC");
  command->add_option("-o,--output", options->output, "The model file to write")->required()->type_name("m.heed");
  command->add_option("--weights", options->weights, "How matrices are stored (default: what the source asks for, else q8c)")
      ->check(CLI::IsMember({"q8c", "q8g32", "q4g32", "f16", "f32", "keep"}))->type_name("FORMAT");
  command->add_option("--calibrate", options->calibrate, "Learn the range of each layer's inputs from a file with a text on each line")->type_name("TEXTS");
  command->add_option("--target", options->target, "any, or mcu for small tiles (default any)")->check(CLI::IsMember({"any", "mcu"}))->type_name("T");
  command->add_option("--max-rows", options->max_rows, "Most rows of one sequence")->check(whole_number(1, 1u << 24))->type_name("N");
  command->add_option("--max-context", options->max_context, "Most positions kept between runs")->check(whole_number(1, 1u << 24))->type_name("N");
  command->add_option("--task", options->task, "Of an encoder-decoder: search as config.json's task_specific_params say for this task, with its prefix as the default prompt")
      ->type_name("NAME");
  command->add_option("--report", options->report, "Write the report as JSON, too")->type_name("FILE");
  command->add_flag("--json", *json, "Print the report as one JSON object");
  command->footer("Example:\n  heed convert ~/.cache/heed/minilm -o minilm.heed --calibrate tools/samples/sentences.txt");
  command->callback([options, json] { convert_checkpoint(*options, *json); });
}

}  // namespace heed::tools
