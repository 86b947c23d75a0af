// `heed inspect`: what a model file holds and what running it takes.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/memory_svg.h"
#include "cli/print.h"
#include "cli/session.h"
#include "cli/shapes.h"
#include "cli/translate.h"
#include "error.h"
#include "model/weight.h"

namespace heed::tools {
namespace {

struct InspectFlags {
  std::string path;
  bool json = false;
  bool ops = false;
  bool tensors = false;
  std::string svg;
  SessionFlags session;
};

std::string text_of(const heed_flatbuffers::String* text) { return text ? text->str() : ""; }

Json or_null(const heed_flatbuffers::String* text) { return text ? Json(text->str()) : Json(nullptr); }

uint64_t parameters(const schema::Model& model) {
  uint64_t total = 0;
  for (const schema::Weight* weight : *model.weights()) {
    total += uint64_t{weight->rows()} * weight->cols() + weight_parts(*weight).bias / sizeof(float);
  }
  return total;
}

Json shape_json(const ValueRecord& value) {
  const Json rows = value.ragged ? Json("rows") : Json(value.rows);
  return Json::array({rows, value.features});
}

std::string shape_for_people(const ValueRecord& value) {
  return "[" + (value.ragged ? std::string("rows") : std::to_string(value.rows)) + (value.ids ? "] ids" : ", " + std::to_string(value.features) + "]");
}

Json node_json(const schema::Node& node, const GraphFacts& facts, uint32_t index) {
  Json in = Json::array();
  Json out = Json::array();
  for (const uint16_t value : *node.inputs()) in.push_back(value);
  for (const uint16_t value : *node.outputs()) out.push_back(value);
  return {{"op", schema::EnumNameOpKind(node.op())},
          {"name", text_of(node.name())},
          {"inputs", in},
          {"outputs", out},
          {"shape", node.outputs()->size() ? shape_json(facts.values[node.outputs()->Get(0)]) : Json(nullptr)},
          {"multiply_adds", facts.multiply_adds[index]},
          {"workspace_bytes", uint64_t{facts.nodes[index].workspace_units} * kAlignment},
          {"scratch_bytes", uint64_t{facts.nodes[index].scratch_units} * kAlignment}};
}

Json inputs_json(const schema::Graph& graph) {
  Json list = Json::array();
  for (const schema::GraphInput* input : *graph.inputs()) {
    list.push_back({{"name", text_of(input->name())}, {"type", schema::EnumNameElementType(input->type())}, {"features", input->features()},
                    {"max_rows", input->max_rows()}, {"axis", input->axis()}, {"optional", input->optional()}});
  }
  return list;
}

Json outputs_json(const schema::Graph& graph, const GraphFacts& facts) {
  Json list = Json::array();
  for (const schema::GraphOutput* output : *graph.outputs()) {
    list.push_back({{"name", text_of(output->name())}, {"shape", shape_json(facts.values[output->value()])}});
  }
  return list;
}

Json tokenizer_json(const schema::Model& model) {
  const schema::Tokenizer* tokenizer = model.tokenizer();
  if (!tokenizer || tokenizer->kind() == schema::TokenizerKind::none) return nullptr;
  return {{"kind", schema::EnumNameTokenizerKind(tokenizer->kind())},
          {"vocabulary", tokenizer->vocabulary()},
          {"truncation", tokenizer->truncation()},
          {"truncation_source", schema::EnumNameTruncationSource(tokenizer->truncation_source())}};
}

Json tensors_json(const schema::Model& model) {
  Json list = Json::array();
  for (const schema::Weight* weight : *model.weights()) {
    list.push_back({{"name", text_of(weight->name())}, {"rows", weight->rows()}, {"cols", weight->cols()},
                    {"format", schema::EnumNameFormat(weight->format())}, {"layout", schema::EnumNameLayout(weight->layout())},
                    {"bytes", weight->data_bytes()}, {"bias", weight->has_bias()}, {"input_scale", weight->has_input_scale()}});
  }
  return list;
}

std::string slots_text(const StateForm& state) {
  const char* what = state.kind == schema::StateKind::kv_fixed ? " source" : " sequence";
  return std::to_string(state.slots) + what + (state.slots == 1 ? "" : "s");
}

// What a session keeps between runs, with the bytes that it takes under these limits.
Json states_json(const Model& model, const heed_limits& limits) {
  Json list = Json::array();
  for (uint32_t i = 0; model.tables().states() && i < model.tables().states()->size(); ++i) {
    const StateForm form = state_form(model.handle(), static_cast<int32_t>(i), limits);
    list.push_back({{"name", text_of(model.tables().states()->Get(i)->name())}, {"kind", schema::EnumNameStateKind(form.kind)},
                    {"slots", form.slots}, {"rows", form.has_keys() ? form.rows : 1}, {"features", form.has_keys() ? form.keys.key_dim : form.features},
                    {"heads", form.keys.heads}, {"value_features", form.keys.value_dim}, {"format", form.keys.int8 ? "int8" : "f32"},
                    {"bytes", state_bytes(form)}});
  }
  return list;
}

Json prompts_json(const schema::Metadata* metadata) {
  Json prompts = Json::object();
  if (metadata && metadata->prompts()) {
    for (const schema::Prompt* prompt : *metadata->prompts()) prompts[text_of(prompt->name())] = text_of(prompt->text());
  }
  return prompts;
}

// What is measured once and told in both forms.
struct Facts {
  heed_limits limits;
  heed_memory memory;
  std::string isa;
  std::vector<GraphFacts> graphs;
  uint64_t generator_bytes = 0;  // beside the arena, of a search with limits.beams
  uint32_t generated_tokens = 0;  // that it has room for
};

Facts gather(const Model& model, const InspectFlags& flags) {
  Facts facts{make_limits(model, flags.session), {}, chosen_isa(""), {}, 0, 0};
  facts.memory = required_memory(model, facts.limits);
  for (uint32_t i = 0; i < model.tables().graphs()->size(); ++i) facts.graphs.push_back(graph_facts(model, i, facts.limits));
  if (is_translator(model)) {
    heed_generate_options options;
    heed_default_generate_options(&model.handle(), &options);
    options.beams = facts.limits.beams;
    if (facts.limits.max_context) options.max_tokens = facts.limits.max_context;
    facts.generated_tokens = options.max_tokens;
    facts.generator_bytes = generator_bytes(model, options);
  }
  return facts;
}

Json everything(const Model& model, const Facts& facts, bool tensors) {
  const schema::Model& tables = model.tables();
  const schema::Metadata* metadata = tables.metadata();
  Json graphs = Json::array();
  Json ops = Json::array();
  for (uint32_t g = 0; g < facts.graphs.size(); ++g) {
    const schema::Graph& graph = *tables.graphs()->Get(g);
    graphs.push_back({{"name", text_of(graph.name())}, {"inputs", inputs_json(graph)}, {"outputs", outputs_json(graph, facts.graphs[g])},
                      {"nodes", graph.nodes()->size()}});
    for (uint32_t n = 0; n < graph.nodes()->size(); ++n) {
      Json node = node_json(*graph.nodes()->Get(n), facts.graphs[g], n);
      node["graph"] = text_of(graph.name());
      ops.push_back(std::move(node));
    }
  }
  const heed_memory& memory = facts.memory;
  Json json = {{"file", model.path()}, {"file_bytes", model.file_bytes()}, {"format_version", tables.version()},
               {"source", metadata ? or_null(metadata->source()) : Json(nullptr)},
               {"licence", metadata ? or_null(metadata->licence()) : Json(nullptr)},
               {"producer", metadata ? or_null(metadata->producer()) : Json(nullptr)},
               {"family", metadata ? or_null(metadata->family()) : Json(nullptr)},
               {"parameters", parameters(tables)}, {"weight_bytes", tables.weight_region_bytes()}, {"isa", facts.isa},
               {"rows", facts.limits.max_rows}, {"threads", facts.limits.workers}, {"tile_rows", facts.limits.tile_rows},
               {"arena_bytes", memory.total_bytes}, {"generator_bytes", facts.generator_bytes}, {"live_peak_bytes", memory.live_peak_bytes},
               {"persistent_bytes", memory.persistent_bytes}, {"state_bytes", memory.state_bytes}, {"context", facts.limits.max_context},
               {"states", states_json(model, facts.limits)}, {"transient_bytes", memory.transient_bytes},
               {"activation_bytes", memory.activation_bytes}, {"workspace_bytes", memory.workspace_bytes}, {"scratch_bytes", memory.scratch_bytes},
               {"max_sequence_rows", model.max_sequence_rows()}, {"tokenizer", tokenizer_json(tables)}, {"prompts", prompts_json(metadata)},
               {"graphs", graphs}, {"inputs", graphs[model.graph_place()]["inputs"]}, {"outputs", graphs[model.graph_place()]["outputs"]}, {"ops", ops}};
  if (tensors) json["tensors"] = tensors_json(tables);
  return json;
}

std::string with_unit(uint64_t bytes) { return grouped(bytes) + " bytes (" + human_bytes(bytes) + ")"; }

void add_metadata(const schema::Metadata& metadata, Table& table) {
  const std::pair<const char*, const heed_flatbuffers::String*> lines[] = {
      {"source", metadata.source()}, {"family", metadata.family()}, {"licence", metadata.licence()}, {"producer", metadata.producer()}};
  for (const auto& [name, text] : lines) {
    if (text) table.add({name, printable(text->string_view())});
  }
  if (!metadata.prompts()) return;
  for (const schema::Prompt* prompt : *metadata.prompts()) {
    table.add({"prompt " + printable(prompt->name()->string_view()), "\"" + printable(prompt->text()->string_view()) + "\""});
  }
}

void add_tokenizer(const schema::Model& tables, Table& table) {
  const schema::Tokenizer* tokenizer = tables.tokenizer();
  if (!tokenizer || tokenizer->kind() == schema::TokenizerKind::none) return;
  table.add({"tokenizer", std::string(schema::EnumNameTokenizerKind(tokenizer->kind())) + ", " + grouped(tokenizer->vocabulary()) + " pieces"});
  const std::string tokens = std::to_string(tokenizer->truncation()) + " tokens, from " + schema::EnumNameTruncationSource(tokenizer->truncation_source());
  table.add({"truncation", tokenizer->truncation() ? tokens : "none"});
}

void add_graph(const schema::Graph& graph, const GraphFacts& facts, Table& table) {
  table.add({"graph " + printable(graph.name()->string_view()), std::to_string(graph.nodes()->size()) + " ops"});
  for (const schema::GraphInput* input : *graph.inputs()) {
    table.add({"  input", printable(input->name()->string_view()) + " " + shape_for_people(facts.values[input->value()]) + ", at most " +
                              std::to_string(input->max_rows()) + " rows" + (input->optional() ? ", optional" : "")});
  }
  for (const schema::GraphOutput* output : *graph.outputs()) {
    table.add({"  output", printable(output->name()->string_view()) + " " + shape_for_people(facts.values[output->value()])});
  }
}

void add_memory(const Facts& facts, Table& table) {
  const heed_memory& memory = facts.memory;
  const std::string workers = std::to_string(facts.limits.workers);
  table.add({"instruction set", facts.isa});
  table.add({"arena", with_unit(memory.total_bytes) + " for " + std::to_string(facts.limits.max_rows) + " rows, " + workers +
                          (facts.limits.workers == 1 ? " thread" : " threads") + ", tiles of " + std::to_string(facts.limits.tile_rows)});
  if (facts.generator_bytes) table.add({"search", with_unit(facts.generator_bytes) + " beside it for " + std::to_string(facts.generated_tokens) + " tokens out"});
  table.add({"  persistent", with_unit(memory.persistent_bytes)});
  if (memory.state_bytes) table.add({"  of it states", with_unit(memory.state_bytes)});
  table.add({"  activations", with_unit(memory.activation_bytes)});
  table.add({"  workspace", with_unit(memory.workspace_bytes)});
  table.add({"  scratch", workers + " x " + with_unit(memory.scratch_bytes)});
  table.add({"  live peak", with_unit(memory.live_peak_bytes)});
}

void add_states(const Model& model, const heed_limits& limits, Table& table) {
  for (uint32_t i = 0; model.tables().states() && i < model.tables().states()->size(); ++i) {
    const StateForm form = state_form(model.handle(), static_cast<int32_t>(i), limits);
    const std::string room = form.has_keys() ? std::to_string(form.keys.heads) + " heads of " + std::to_string(form.rows) + " keys in " + (form.keys.int8 ? "int8" : "f32")
                                             : std::to_string(form.features) + " features";
    table.add({"state " + printable(model.tables().states()->Get(i)->name()->string_view()),
               std::string(schema::EnumNameStateKind(form.kind)) + ", " + room + ", " + slots_text(form) + ", " + with_unit(state_bytes(form))});
  }
}

void print_summary(const Model& model, const Facts& facts) {
  const schema::Model& tables = model.tables();
  Table table({"file", printable(model.path())});
  table.lean_left(1);
  table.add({"size", with_unit(model.file_bytes()) + ", format version " + std::to_string(tables.version())});
  if (tables.metadata()) add_metadata(*tables.metadata(), table);
  table.add({"parameters", grouped(parameters(tables))});
  table.add({"weights", with_unit(tables.weight_region_bytes())});
  add_tokenizer(tables, table);
  for (uint32_t g = 0; g < facts.graphs.size(); ++g) add_graph(*tables.graphs()->Get(g), facts.graphs[g], table);
  add_states(model, facts.limits, table);
  add_memory(facts, table);
  print(table.text());
}

void print_ops(const Model& model, const Facts& facts) {
  for (uint32_t g = 0; g < facts.graphs.size(); ++g) {
    const schema::Graph& graph = *model.tables().graphs()->Get(g);
    Table table({"graph " + printable(graph.name()->string_view()), "op", "shape", "multiply-adds", "workspace", "scratch"});
    table.lean_left(1);
    for (uint32_t n = 0; n < graph.nodes()->size(); ++n) {
      const schema::Node& node = *graph.nodes()->Get(n);
      table.add({printable(text_of(node.name())), schema::EnumNameOpKind(node.op()),
                 node.outputs()->size() ? shape_for_people(facts.graphs[g].values[node.outputs()->Get(0)]) : "",
                 grouped(facts.graphs[g].multiply_adds[n]), grouped(uint64_t{facts.graphs[g].nodes[n].workspace_units} * kAlignment),
                 grouped(uint64_t{facts.graphs[g].nodes[n].scratch_units} * kAlignment)});
    }
    print("\n" + table.text());
  }
}

void print_tensors(const Model& model) {
  Table table({"weight", "rows", "cols", "format", "layout", "bytes"});
  for (const schema::Weight* weight : *model.tables().weights()) {
    table.add({printable(weight->name()->string_view()), std::to_string(weight->rows()), std::to_string(weight->cols()),
               schema::EnumNameFormat(weight->format()), schema::EnumNameLayout(weight->layout()), grouped(weight->data_bytes())});
  }
  print("\n" + table.text());
}

void inspect(const InspectFlags& flags) {
  if (!flags.svg.empty() && same_file(flags.svg, flags.path)) throw UsageError("--svg " + flags.svg + ": is the model; name another file");
  const Model model(flags.path);
  const Facts facts = gather(model, flags);
  if (!flags.svg.empty()) {
    AtomicFile file(flags.svg);
    const std::string svg = memory_svg(model, facts.limits, facts.memory, facts.graphs[model.graph_place()]);
    file.write(svg.data(), svg.size());
    file.commit();
  }
  if (flags.json) return print_json(everything(model, facts, flags.tensors));
  print_summary(model, facts);
  if (flags.ops) print_ops(model, facts);
  if (flags.tensors) print_tensors(model);
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App* command = app.add_subcommand("inspect", "What a model file holds, and the memory it needs");
  auto flags = std::make_shared<InspectFlags>();
  command->add_option("model", flags->path, "Model file")->required()->type_name("m.heed");
  command->add_flag("--json", flags->json, "One JSON object");
  command->add_flag("--ops", flags->ops, "A line for each op");
  command->add_flag("--tensors", flags->tensors, "A line for each weight");
  command->add_option("--svg", flags->svg, "Draw the arena, to scale")->type_name("memory.svg");
  add_session_flags(*command, flags->session, {Flag::kRows, Flag::kContext, Flag::kBeams, Flag::kThreads, Flag::kTileRows, Flag::kPrecision});
  command->footer("Example:\n  heed inspect build/models/minilm.heed --rows 128 --tile-rows 8 --ops");
  command->callback([flags] { inspect(*flags); });
}

}  // namespace heed::tools
