// Source -> Spec -> quantized weights -> file -> opened, checked and planned -> named.
// SPDX-License-Identifier: Apache-2.0
#include "convert/convert.h"

#include <algorithm>
#include <cmath>

#include "convert/calibrate.h"
#include "convert/checkpoint.h"
#include "convert/front_ends/front_end.h"
#include "convert/json.h"
#include "convert/quantize.h"
#include "convert/reopen.h"
#include "convert/write.h"
#include "error.h"
#include "quant/panel.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;
using schema::Format;
using schema::Layout;

constexpr double kFaultyDecibels = 20;
constexpr uint32_t kMcuTileRows = 8;

struct FrontEnd {
  const char* title;
  bool (*accepts)(const fs::path&);
  Spec (*read)(const fs::path&, const std::string& task);
};

constexpr FrontEnd kFrontEnds[] = {
#define HEED_FRONT_END(name, title) {title, accepts_##name, read_##name},
#include "convert/front_end_list.inc"
#undef HEED_FRONT_END
};

Spec read_source(const fs::path& source, const std::string& task, ConvertReport& report) {
  if (!fs::exists(source)) throw Error(source.string() + ": does not exist");
  std::string titles;
  for (const FrontEnd& front_end : kFrontEnds) {
    if (fs::is_directory(source) && front_end.accepts(source)) {
      report.source_kind = front_end.title;
      return front_end.read(source, task);
    }
    titles += (titles.empty() ? "" : "; ") + std::string(front_end.title);
  }
  if (fs::exists(source / "pytorch_model.bin")) {
    throw Error(source.string() + ": has pytorch_model.bin but no config.json, which says what model it is; fetch the whole folder");
  }
  throw Error(source.string() + ": is nothing that heed can convert: " + titles);
}

// The format that the user's word asks for; q8c and nothing said leave room for what the source itself says.
std::optional<Format> asked_format(const std::string& word) {
  if (word.empty()) return std::nullopt;
  if (word == "q8c") return Format::q8c;
  if (word == "f16") return Format::f16;
  if (word == "f32") return Format::f32;
  if (word == "keep") {
    throw Error(
        "--weights keep: this source's weights are not quantized, so there is nothing to keep; use q8c, f16 or f32");
  }
  if (word == "q8g32" || word == "q4g32") {
    throw Error("--weights " + word + ": not available yet for any op; use q8c, f16 or f32");
  }
  throw UsageError("--weights " + word + ": unknown; use q8c, f16 or f32");
}

// Matrices lie in panels, tables and vectors in rows. Norms are always f32; position and segment tables, which are
// small and added to the tokens' rows, keep f16 where the rest is int8.
void choose_formats(Spec& spec, std::optional<Format> asked) {
  const std::vector<Role> roles = weight_roles(spec);
  const std::vector<bool> tokens = token_tables(spec.model);
  for (size_t i = 0; i < roles.size(); ++i) {
    schema::WeightT& weight = *spec.model.weights[i];
    if (weight.rows == 0 || weight.cols == 0) throw Error(spec.weights[i].values.title() + " has no elements");
    const Format wanted = asked.value_or(spec.weights[i].format.value_or(Format::q8c));
    const bool small_table = roles[i] == Role::kTable && !tokens[i];
    weight.layout = roles[i] == Role::kMatrix ? Layout::panel16 : Layout::rows;
    weight.format = wanted;
    if (small_table && wanted == Format::q8c) weight.format = Format::f16;
    if (roles[i] == Role::kVector) weight.format = Format::f32;
  }
}

// Keys and values that a state keeps are int8 where the weights that make them are.
void choose_state_formats(schema::ModelT& model) {
  const auto int8 = [&](int32_t id) { return id >= 0 && model.weights[id]->format == Format::q8c; };
  for (const auto& graph : model.graphs) {
    for (const auto& node : graph->nodes) {
      if (node->state < 0 || static_cast<size_t>(node->state) >= model.states.size()) continue;
      if (int8(node->key) && int8(node->value)) model.states[node->state]->format = Format::q8c;
    }
  }
}

// A bound of what states that grow keep, and with it of an output's length.
void bound_context(uint32_t rows, Spec& spec) {
  schema::ModelT& model = spec.model;
  for (const auto& state : model.states) {
    if (state->kind != schema::StateKind::kv_append) continue;
    if (state->rows > 0 && rows > state->rows) {
      throw Error("--max-context " + std::to_string(rows) + ": state '" + state->name + "' has room for at most " + std::to_string(state->rows) + " positions");
    }
    state->rows = rows;
  }
  model.metadata->max_context = rows;
  if (!model.generation) return;
  uint32_t& tokens = model.generation->max_tokens;
  if (tokens > rows) {
    spec.notes.push_back("outputs of " + std::to_string(tokens) + " tokens asked for by the source; --max-context " + std::to_string(rows) + " cuts them");
    tokens = rows;
  }
  if (model.generation->min_tokens > rows) {
    throw Error("--max-context " + std::to_string(rows) + ": the source asks for outputs of at least " + std::to_string(model.generation->min_tokens) + " tokens");
  }
}

void apply_limits(Spec& spec, const ConvertOptions& options) {
  schema::ModelT& model = spec.model;
  if (options.target != "any" && options.target != "mcu") {
    throw UsageError("--target " + options.target + ": unknown; use any or mcu");
  }
  const bool appends = std::any_of(model.states.begin(), model.states.end(), [](const auto& state) {
    return state->kind == schema::StateKind::kv_append;
  });
  if (options.max_context && !appends) {
    throw Error("--max-context: this model keeps nothing between runs, so it has no context to bound; leave it out");
  }
  if (!model.metadata) model.metadata = std::make_unique<schema::MetadataT>();
  if (options.target == "mcu") model.metadata->tile_rows = kMcuTileRows;
  if (options.max_context) bound_context(*options.max_context, spec);
  const bool cuts = model.tokenizer && model.tokenizer->truncation > 0;
  if (cuts) model.metadata->max_sequence_rows = model.tokenizer->truncation;
  if (!options.max_rows) return;
  const uint32_t rows = *options.max_rows;
  for (const auto& graph : model.graphs) {
    for (const auto& input : graph->inputs) {
      if (input->max_rows == 1) continue;  // one row for each sequence, whatever its length
      if (rows == 0 || (input->max_rows > 0 && rows > input->max_rows)) {
        throw Error("--max-rows " + std::to_string(rows) + ": the model takes 1 to " + std::to_string(input->max_rows) +
                    " rows");
      }
      input->max_rows = rows;
    }
  }
  model.metadata->max_sequence_rows = rows;
  if (cuts && rows < model.tokenizer->truncation) {
    model.tokenizer->truncation = rows;
    model.tokenizer->truncation_source = schema::TruncationSource::user;
  }
}

std::vector<PackedWeight> pack_all(Spec& spec, const InputScales& input_scales) {
  std::vector<PackedWeight> packed;
  for (size_t i = 0; i < spec.weights.size(); ++i) {
    const auto scale = input_scales.find(static_cast<int32_t>(i));
    spec.model.weights[i]->has_input_scale = scale != input_scales.end();
    packed.push_back(pack_weight(spec.weights[i], *spec.model.weights[i],
                                 scale != input_scales.end() ? scale->second : std::vector<float>()));
  }
  return packed;
}

uint64_t padded_bytes(const PackedWeight& packed) {
  const auto padded = [](const auto& piece) { return round_up(piece.size() * sizeof(piece[0]), kAlignment); };
  return padded(packed.data) + padded(packed.bias) + padded(packed.scales) + padded(packed.sums) +
         padded(packed.input_scale);
}

std::string decibels_text(double decibels) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", decibels);
  return text;
}

std::string row_warning(const schema::WeightT& weight, const PackedWeight& packed) {
  const WorstRow& worst = packed.worst_row;
  char largest[32];
  std::snprintf(largest, sizeof largest, "%g", static_cast<double>(worst.largest));
  return "'" + weight.name + "' row " + std::to_string(worst.row) + " keeps only " + decibels_text(worst.sqnr_db) +
         " dB of its other weights, because element " + shape_text({worst.row, worst.col}) + " is " + largest + " (" +
         std::to_string(packed.ruined_rows) + " such row" + (packed.ruined_rows == 1 ? "" : "s") +
         "); if that is no mistake, try --calibrate, or --weights f16";
}

void report_layers(const Spec& spec, const std::vector<PackedWeight>& packed, ConvertReport& report) {
  for (size_t i = 0; i < packed.size(); ++i) {
    const schema::WeightT& weight = *spec.model.weights[i];
    report.layers.push_back({weight.name, schema::EnumNameFormat(weight.format), weight.rows, weight.cols,
                             padded_bytes(packed[i]), packed[i].sqnr_db});
    report.parameters += uint64_t{weight.rows} * weight.cols + packed[i].bias.size();
    const double worst = std::min(packed[i].sqnr_db, packed[i].column_sqnr_db);
    if (packed[i].worst_row.sqnr_db < kRuinedRowDecibels) report.warnings.push_back(row_warning(weight, packed[i]));
    if (worst >= kFaultyDecibels) continue;
    report.warnings.push_back("'" + weight.name + "' keeps only " + decibels_text(worst) + " dB of " +
                              (packed[i].sqnr_db < kFaultyDecibels
                                   ? "its weights"
                                   : "most inputs' weights, a few large inputs take the range") +
                              " in " + schema::EnumNameFormat(weight.format) + "; try --calibrate, or --weights f16");
  }
}

// The quantization report that the file itself carries.
void fill_metadata(schema::ModelT& model, const ConvertReport& report) {
  model.metadata->producer = HEED_PRODUCER;
  model.metadata->report.clear();
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerReport& layer = report.layers[i];
    if (!std::isfinite(layer.sqnr_db)) continue;
    auto entry = std::make_unique<schema::LayerT>();
    entry->name = layer.name;
    entry->format = model.weights[i]->format;
    entry->sqnr_db = static_cast<float>(layer.sqnr_db);
    model.metadata->report.push_back(std::move(entry));
  }
}

InputScales learn_input_scales(Spec& spec, const ConvertOptions& options, ConvertReport& report) {
  if (options.calibrate.empty()) return {};
  AtomicFile draft(options.output);  // never named, and gone when this function ends
  write_model(spec.model, pack_all(spec, {}), draft);
  reopen(draft, spec, report);
  return calibrate(spec, draft.temporary_path(), options.calibrate, report);
}

// An output may replace a model file of the source's folder, but nothing that a conversion may read.
void check_output(const char* flag, const fs::path& output, const ConvertOptions& options) {
  if (!options.calibrate.empty() && same_file(output, options.calibrate)) {
    throw UsageError(std::string(flag) + " " + output.string() + ": is the file of texts; name another output");
  }
  const fs::path folder = resolved(options.source);
  // The name itself may lie in the folder, or what it is a link to.
  const bool inside = is_inside(resolved(output), folder) || is_inside(resolved(fs::absolute(output).parent_path()), folder);
  if (inside && fs::exists(output) && output.extension() != ".heed") {
    throw UsageError(std::string(flag) + " " + output.string() +
                     ": is a file of the source; name another output, or remove it first");
  }
}

void check_outputs(const ConvertOptions& options) {
  check_output("-o", options.output, options);
  if (options.report.empty()) return;
  if (same_file(options.report, options.output)) {
    throw UsageError("-o " + options.output.string() + " and --report " + options.report.string() +
                     " name the same file");
  }
  check_output("--report", options.report, options);
}

// The command line addresses inputs and outputs as NAME=FILE, the C API by strings that end at a zero byte.
template <class Ports>
void check_names(const Spec& spec, const char* what, const Ports& ports) {
  for (const auto& port : ports) {
    if (!port->name.empty() && port->name.find_first_of(std::string("=\0", 2)) == std::string::npos) continue;
    throw Error(spec.origin + ": the " + what + " name " + shown(port->name) +
                " cannot be addressed; a name is not empty and has no '=' and no zero byte");
  }
}

}  // namespace

ConvertReport convert_into(const ConvertOptions& options, AtomicFile& file) {
  ConvertReport report;
  const std::optional<Format> asked = asked_format(options.weights);
  Spec spec = read_source(options.source, options.task, report);
  for (const auto& graph : spec.model.graphs) {
    check_names(spec, "input", graph->inputs);
    check_names(spec, "output", graph->outputs);
  }
  apply_limits(spec, options);
  choose_formats(spec, asked);
  choose_state_formats(spec.model);
  report.family = spec.model.metadata->family;
  if (spec.model.metadata->source.empty()) {
    spec.model.metadata->source = fs::absolute(options.source).lexically_normal().filename().string();
  }
  report.notes = spec.notes;

  const std::vector<PackedWeight> packed = pack_all(spec, learn_input_scales(spec, options, report));
  report_layers(spec, packed, report);
  fill_metadata(spec.model, report);
  write_model(spec.model, packed, file);
  reopen(file, spec, report);
  return report;
}

ConvertReport convert(const ConvertOptions& options) {
  check_outputs(options);
  AtomicFile file(options.output);  // first, so that an output that cannot be written is known at once
  std::optional<AtomicFile> report_file;
  if (!options.report.empty()) report_file.emplace(options.report);
  const ConvertReport report = convert_into(options, file);
  if (report_file) {
    const std::string text = report_json(report) + "\n";
    report_file->write(text.data(), text.size());
    report_file->flush();
  }
  file.commit();
  if (report_file) report_file->commit();
  return report;
}

}  // namespace heed::tools
