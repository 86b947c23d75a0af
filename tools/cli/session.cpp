// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

#include "cli/print.h"
#include "convert/reopen.h"
#include "error.h"
#include "heed_host.h"
#include "model/open.h"
#include "session/plan.h"

namespace heed::tools {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The tables of a file that heed_open refused: null unless they verify as a FlatBuffer, so that names can be read.
const schema::Model* verified_tables(const MappedFile& file) {
  heed_flatbuffers::Verifier verifier(file.data(), std::min(file.size(), kMaxTableBytes));
  return schema::VerifySizePrefixedModelBuffer(verifier) ? schema::GetSizePrefixedModel(file.data()) : nullptr;
}

template <class Vector>
auto element(const Vector* vector, int32_t index) -> decltype(vector->Get(0)) {
  return vector && index >= 0 && static_cast<uint32_t>(index) < vector->size() ? vector->Get(static_cast<uint32_t>(index)) : nullptr;
}

std::string quoted(const heed_flatbuffers::String* name) { return name ? " \"" + printable(name->string_view()) + "\"" : ""; }

// "graph "main", node 3 Attention "layer.0", weight "x": ", as far as it is known.
std::string place(const heed_diagnostic& diagnostic, const schema::Model* tables) {
  std::vector<std::string> parts;
  const schema::Graph* graph = tables ? element(tables->graphs(), diagnostic.graph) : nullptr;
  if (graph) {
    parts.push_back("graph" + quoted(graph->name()));
  } else if (diagnostic.graph >= 0) {
    parts.push_back("graph " + std::to_string(diagnostic.graph));
  }
  if (diagnostic.node >= 0) {
    std::string text = "node " + std::to_string(diagnostic.node);
    if (const schema::Node* node = graph ? element(graph->nodes(), diagnostic.node) : nullptr) {
      text += std::string(" ") + schema::EnumNameOpKind(node->op()) + quoted(node->name());
    }
    parts.push_back(text);
  }
  if (diagnostic.weight >= 0) {
    const schema::Weight* weight = tables ? element(tables->weights(), diagnostic.weight) : nullptr;
    parts.push_back("weight" + (weight ? quoted(weight->name()) : " " + std::to_string(diagnostic.weight)));
  }
  if (diagnostic.input >= 0) {
    const schema::GraphInput* input = graph ? element(graph->inputs(), diagnostic.input) : nullptr;
    parts.push_back("input" + (input ? quoted(input->name()) : " " + std::to_string(diagnostic.input)));
  }
  if (diagnostic.value >= 0) parts.push_back("value " + std::to_string(diagnostic.value));
  if (diagnostic.byte_offset >= 0) parts.push_back("byte " + std::to_string(diagnostic.byte_offset));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text.empty() ? "" : text + ": ";
}

std::string numbers(heed_status status, const heed_diagnostic& diagnostic) {
  std::string text;
  if (diagnostic.what) text += std::string(" (") + diagnostic.what + ")";
  if (diagnostic.found != -1 || status == HEED_BAD_INPUT) text += ", found " + std::to_string(diagnostic.found);
  if (diagnostic.expected != -1) text += ", " + wanted_text(status, diagnostic);
  if (diagnostic.bytes_needed != -1) text += ", " + std::to_string(diagnostic.bytes_needed) + " bytes are needed";
  return text;
}

}  // namespace

heed_diagnostic empty_diagnostic() { return {-1, -1, -1, -1, -1, -1, -1, -1, -1, nullptr}; }

void check(heed_status status, const heed_diagnostic& diagnostic, const std::string& path, const heed_model* model) {
  if (status == HEED_OK) return;
  const schema::Model* tables = model ? static_cast<const schema::Model*>(model->root) : nullptr;
  throw Error(path + ": " + place(diagnostic, tables) + heed_status_text(status) + numbers(status, diagnostic));
}

std::string chosen_isa(const std::string& wanted) {
  const char* environment = std::getenv("HEED_ISA");
  const std::string name = !wanted.empty() ? wanted : environment ? environment : "";
  std::string choices;
  int32_t runs = 0;
  for (uint32_t i = 0; const char* known = heed_isa_at(i, &runs); ++i) {
    if (runs && (name.empty() || name == known)) return known;
    if (runs) choices += (choices.empty() ? "" : ", ") + std::string(known);
  }
  throw Error("instruction set '" + name + "' is not built in or does not run on this machine; there are " + choices);
}

Model::Model(const std::string& path, uint32_t open_flags, const std::string& name) : path_(name.empty() ? path : name), file_(path) {
  const Clock::time_point start = Clock::now();
  if (file_.size() == 0) throw Error(path_ + ": the file is empty");
  heed_diagnostic diagnostic = empty_diagnostic();
  const heed_status status = heed_open(file_.data(), file_.size(), open_flags, &handle_, &diagnostic);
  open_seconds_ = seconds_since(start);
  if (status == HEED_OK) return;
  heed_model named{};
  named.root = verified_tables(file_);
  check(status, diagnostic, path_, &named);
}

uint32_t Model::max_sequence_rows() const { return model_sequence_rows(handle_); }

uint32_t Model::graph_place() const { return is_translator(*this) ? graph_index(*this, "encode") : 0; }

uint32_t graph_index(const Model& model, std::string_view name) {
  const auto& graphs = *model.tables().graphs();
  for (uint32_t i = 0; i < graphs.size(); ++i) {
    if (graphs.Get(i)->name()->string_view() == name) return i;
  }
  return HEED_NO_TOKEN;
}

bool is_translator(const Model& model) { return graph_index(model, "encode") != HEED_NO_TOKEN && graph_index(model, "decode") != HEED_NO_TOKEN; }

heed_limits make_limits(const Model& model, const SessionFlags& flags, const Extent& extent) {
  heed_limits limits;
  heed_default_limits(&model.handle(), &limits);
  limits.max_rows = extent.rows;
  limits.max_sequences = extent.sequences;
  limits.max_sequence_rows = extent.sequence_rows;
  limits.workers = flags.threads;
  if (flags.tile_rows) limits.tile_rows = flags.tile_rows;
  if (flags.precision == "int8") limits.precision = HEED_PRECISION_INT8;
  if (flags.precision == "f32") limits.precision = HEED_PRECISION_F32;
  return limits;
}

heed_limits make_limits(const Model& model, const SessionFlags& flags) {
  const uint32_t most = model.max_sequence_rows();
  heed_limits defaults;  // hold what texts are cut to, which may be less
  heed_default_limits(&model.handle(), &defaults);
  const uint32_t rows = flags.rows ? flags.rows : defaults.max_rows;
  if (rows > most) {
    throw Error(model.path() + ": --rows " + std::to_string(rows) + " is more than one sequence of this model may have: " + std::to_string(most));
  }
  const uint32_t beams = flags.beams ? flags.beams : 1;
  heed_limits limits = make_limits(model, flags, {std::max(rows, beams), beams, rows});
  limits.beams = beams;
  if (flags.context) limits.max_context = flags.context;
  return limits;
}

heed_memory required_memory(const Model& model, const heed_limits& limits) {
  heed_memory memory;
  heed_diagnostic diagnostic = empty_diagnostic();
  check(heed_required_bytes(&model.handle(), &limits, &memory, &diagnostic), diagnostic, model.path(), &model.handle());
  return memory;
}

// The machine as heed_platform sees it. Both live as long as the session.
struct Session::Host {
  explicit Host(uint32_t threads, std::string isa_name) : isa(std::move(isa_name)), pool(threads) {
    platform = pool.platform();
    platform.isa = isa.c_str();
  }
  std::string isa;
  host::ThreadPool pool;
  heed_platform platform{};
};

Session::Session(const Model& model, const heed_limits& limits, const SessionFlags& flags)
    : model_(model),
      limits_(limits),
      memory_(required_memory(model, limits)),
      arena_bytes_(flags.arena_bytes.value_or(memory_.total_bytes)),
      host_(std::make_unique<Host>(flags.threads, chosen_isa(flags.isa))),
      arena_(nullptr, std::free) {
  if (arena_bytes_ > std::numeric_limits<size_t>::max() - HEED_ALIGNMENT) throw Error("--arena: more than this machine's pointers reach");
  // aligned_alloc wants a multiple of the alignment; heed is told only of the bytes that were asked for.
  const size_t block = static_cast<size_t>((arena_bytes_ / HEED_ALIGNMENT + 1) * HEED_ALIGNMENT);
  arena_.reset(std::aligned_alloc(HEED_ALIGNMENT, block));
  if (!arena_) throw Error(model.path() + ": the machine has no " + std::to_string(arena_bytes_) + " bytes for the arena");
  heed_diagnostic diagnostic = empty_diagnostic();
  const Clock::time_point start = Clock::now();
  const heed_status status = heed_plan(&model.handle(), &limits_, arena_.get(), arena_bytes_, &host_->platform, &session_, &diagnostic);
  plan_seconds_ = seconds_since(start);
  check(status, diagnostic, model.path(), &model.handle());
}

Session::~Session() = default;

void Session::run(const heed_pass& pass) {
  heed_diagnostic diagnostic = empty_diagnostic();
  const heed_status status = heed_run(&session_, &pass, &diagnostic);
  diagnostic.byte_offset = -1;  // of an input in memory, not of the file
  check(status, diagnostic, model_.path(), &model_.handle());
}

heed_output Session::output(uint32_t index) const {
  heed_output output;
  check(heed_get_output(&session_, index, &output), empty_diagnostic(), model_.path(), &model_.handle());
  return output;
}

}  // namespace heed::tools
