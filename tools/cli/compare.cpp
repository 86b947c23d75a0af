// `heed compare`: how far the outputs of a model are from another model's, from its checkpoint's, or from given ones.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/compare_decode.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/npy.h"
#include "cli/passes.h"
#include "cli/print.h"
#include "cli/sample_texts.h"
#include "cli/translator.h"
#include "convert/convert.h"
#include "error.h"

namespace heed::tools {
namespace {

struct CompareFlags {
  std::string path;
  std::string other;
  std::string texts;
  std::string task;
  bool json = false;
  SessionFlags session;
};

// What both sides run on. Without a tokenizer these are sequences of noise.
struct Cases {
  std::vector<std::string> texts;
  std::vector<Sequence> sequences;
};

// `texts` are those of --texts, if it is given.
Cases make_cases(const Model& model, const std::optional<std::vector<std::string>>& texts) {
  Cases cases;
  const bool reads_text = model.tables().tokenizer() && model.tables().tokenizer()->kind() != schema::TokenizerKind::none;
  if (reads_text) {
    cases.texts = texts ? *texts : split_lines(sample_texts());
    for (const std::string& text : with_prompt(model, cases.texts, std::nullopt)) cases.sequences.push_back(sequence_of_text(model, text));
    return cases;
  }
  if (texts) throw Error(model.path() + ": has no tokenizer, so it takes no texts");
  constexpr uint32_t kSequences = 32;
  constexpr uint32_t kMostRows = 64;
  const uint32_t most = std::min(kMostRows, model.max_sequence_rows());
  for (uint32_t i = 0; i < kSequences; ++i) cases.sequences.push_back(sequence_of_noise(model, 1 + i * (most - 1) / (kSequences - 1), i));
  return cases;
}

std::vector<OutputData> outputs_of(const Model& model, const std::vector<Sequence>& sequences, const SessionFlags& flags) {
  const Schedule schedule = make_schedule(model, sequences, 0, "text");
  Sessions sessions(model, flags, schedule);
  return run_all(sessions, model, sequences, schedule);
}

std::vector<OutputData> outputs_of(const std::string& path, const std::vector<std::string>& texts) {
  NpyArray array = read_npy(path);
  if (texts.empty()) throw Error(path + ": reference outputs need a model that reads text");
  if (array.is_integer || array.shape.size() != 2 || array.shape[0] != texts.size()) {
    throw Error(path + ": has shape " + shape_text(array.shape) + (array.is_integer ? " of integers" : "") + "; wanted are floats with one row for each of the " +
                std::to_string(texts.size()) + " texts");
  }
  OutputData data{"", static_cast<uint32_t>(array.shape[1]), {}, std::move(array.floats)};
  for (uint64_t row = 0; row <= texts.size(); ++row) data.row_begin.push_back(row);
  return {std::move(data)};
}

// The outputs have to be the same ones; reference outputs from a file stand for the first.
std::vector<Difference> differences(const std::vector<OutputData>& ours, const std::vector<OutputData>& reference, const CompareFlags& flags) {
  if (reference.size() > ours.size()) throw Error(flags.other + ": has more outputs than " + flags.path);
  std::vector<Difference> list;
  for (size_t o = 0; o < reference.size(); ++o) {
    if (ours[o].row_begin != reference[o].row_begin || ours[o].features != reference[o].features) {
      throw Error(flags.other + ": output " + std::to_string(o) + " has " + std::to_string(reference[o].rows()) + " rows of " +
                  std::to_string(reference[o].features) + " features, that of " + flags.path + " has " + std::to_string(ours[o].rows()) + " of " +
                  std::to_string(ours[o].features));
    }
    DifferenceSum sum(ours[o].name);
    for (uint64_t i = 0; i < ours[o].sequences(); ++i) sum.add(ours[o].of(i), reference[o].of(i));
    list.push_back(sum.result());
  }
  return list;
}

std::string inputs_text(const Model& model) {
  std::string text;
  for (const schema::GraphInput* input : *model.graph().inputs()) {
    const bool ids = input->type() == schema::ElementType::i32;
    text += (text.empty() ? "" : ", ") + ("\"" + printable(input->name()->string_view()) + "\" of ") +
            (ids ? "ids" : std::to_string(input->features()) + " features") + (input->optional() ? " (optional)" : "");
  }
  return text;
}

// The same numbers go into both, so their inputs have to be alike; names may differ.
void check_inputs(const Model& model, const Model& other, const CompareFlags& flags) {
  const auto& ours = *model.graph().inputs();
  const auto& theirs = *other.graph().inputs();
  bool alike = ours.size() == theirs.size();
  for (uint32_t i = 0; alike && i < ours.size(); ++i) {
    const schema::GraphInput& a = *ours.Get(i);
    const schema::GraphInput& b = *theirs.Get(i);
    alike = a.type() == b.type() && a.features() == b.features() && a.optional() == b.optional();
  }
  if (!alike) throw Error(flags.other + ": has inputs " + inputs_text(other) + ", but " + flags.path + " has " + inputs_text(model));
}

// What a model is compared with. Without a model these are numbers from a file.
struct Reference {
  std::unique_ptr<AtomicFile> converted;  // never named
  std::unique_ptr<Model> model;
  std::vector<Sequence> sequences;
  std::vector<OutputData> outputs;
};

Reference read_reference(const CompareFlags& flags, const Model& model, const Cases& cases) {
  namespace fs = std::filesystem;
  SessionFlags defaults;
  defaults.threads = flags.session.threads;
  std::string path = flags.other;
  Reference reference;
  if (fs::is_directory(path)) {
    ConvertOptions options;
    options.source = path;
    options.weights = "f32";
    options.task = flags.task;
    reference.converted = std::make_unique<AtomicFile>(temporary_file("heed-reference.heed"));
    convert_into(options, *reference.converted);
    path = reference.converted->temporary_path();
  } else if (path.ends_with(".npy")) {
    reference.outputs = outputs_of(path, cases.texts);
    return reference;
  }
  reference.model = std::make_unique<Model>(path, 0, flags.other);
  // Both tokenize for themselves: a difference there is a difference.
  reference.sequences = cases.texts.empty() ? cases.sequences : make_cases(*reference.model, cases.texts).sequences;
  if (cases.texts.empty()) check_inputs(model, *reference.model, flags);
  reference.outputs = outputs_of(*reference.model, reference.sequences, defaults);
  return reference;
}

// Of an encoder-decoder both graphs are compared; null if the reference is a file of numbers, which are those of `encode`.
std::optional<DecodeDifference> compare_outputs(const CompareFlags& flags, const Model& model, const Cases& cases, const Reference& reference) {
  if (!is_translator(model) || !reference.model) return std::nullopt;
  if (!is_translator(*reference.model)) throw Error(flags.other + ": has no graphs encode and decode, but " + flags.path + " has");
  SessionFlags defaults;
  defaults.threads = flags.session.threads;
  return compare_decode({model, cases.sequences, flags.session}, {*reference.model, reference.sequences, defaults});
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

struct Comparison {
  std::vector<std::string> graphs;  // of each difference
  std::vector<Difference> list;
  std::optional<DecodeDifference> decode;
};

// Graphs that nothing was compared of.
std::string left_out(const Model& model, const Comparison& comparison) {
  std::string names;
  for (const schema::Graph* graph : *model.tables().graphs()) {
    const std::string name = graph->name()->str();
    if (std::find(comparison.graphs.begin(), comparison.graphs.end(), name) == comparison.graphs.end()) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

void print_comparison_json(const Comparison& comparison, const Cases& cases) {
  const auto text = [&](size_t index) { return cases.texts.empty() ? std::string() : cases.texts[index]; };
  Json outputs = Json::array();
  for (size_t i = 0; i < comparison.list.size(); ++i) {
    const Difference& d = comparison.list[i];
    outputs.push_back({{"name", d.output}, {"graph", comparison.graphs[i]}, {"min_cosine", finite(d.min_cosine)}, {"mean_cosine", finite(d.mean_cosine)},
                       {"max_abs_error", finite(d.max_abs_error)}, {"sqnr_db", finite(d.sqnr_db)}, {"worst", d.worst}, {"worst_text", text(d.worst)}});
  }
  Json json = outputs[0];
  json["texts"] = cases.sequences.size();
  json["outputs"] = outputs;
  if (comparison.decode) {
    json["decode"] = {{"tokens", comparison.decode->tokens}, {"same_choices", comparison.decode->same_choices}, {"same_outputs", comparison.decode->same_outputs}};
  }
  print_json(json);
}

void print_comparison(const Model& model, const Comparison& comparison, const Cases& cases) {
  Table table({"output", "texts", "min cosine", "mean cosine", "max abs error", "SQNR dB", "worst"});
  table.lean_left(6);
  const bool several = model.tables().graphs()->size() > 1;
  for (size_t i = 0; i < comparison.list.size(); ++i) {
    const Difference& d = comparison.list[i];
    const std::string worst = cases.texts.empty() ? "" : " " + shortened(cases.texts[d.worst], 60);
    table.add({printable((several ? comparison.graphs[i] + ": " : "") + d.output), std::to_string(cases.sequences.size()), fixed(d.min_cosine, 6),
               fixed(d.mean_cosine, 6), fixed(d.max_abs_error, 6), fixed(d.sqnr_db, 1), std::to_string(d.worst + 1) + worst});
  }
  print(table.text());
  if (comparison.decode) {
    const DecodeDifference& d = *comparison.decode;
    print("decode, along the reference's greedy outputs: " + std::to_string(d.same_choices) + " of " + std::to_string(d.tokens) +
          " tokens have the same likeliest one; by itself: " + std::to_string(d.same_outputs) + " of " + std::to_string(cases.sequences.size()) +
          " outputs are the same\n");
  }
  if (const std::string names = left_out(model, comparison); !names.empty()) print("not compared: graph " + printable(names) + "\n");
}

void compare(const CompareFlags& flags) {
  if (!flags.task.empty() && !std::filesystem::is_directory(flags.other)) throw UsageError("--task is of use only where the reference is a checkpoint's folder");
  const Model model(flags.path);
  std::optional<std::vector<std::string>> texts;
  if (!flags.texts.empty()) texts = read_texts(flags.texts);
  const Cases cases = make_cases(model, texts);
  if (texts) tell_cuts(model, with_prompt(model, *texts, std::nullopt), token_counts(model, cases.sequences), "text");
  const Reference reference = read_reference(flags, model, cases);
  Comparison comparison;
  comparison.list = differences(outputs_of(model, cases.sequences, flags.session), reference.outputs, flags);
  comparison.graphs.assign(comparison.list.size(), model.graph().name()->str());
  comparison.decode = compare_outputs(flags, model, cases, reference);
  if (comparison.decode) {
    comparison.list.push_back(comparison.decode->logits);
    comparison.graphs.push_back("decode");
  }
  flags.json ? print_comparison_json(comparison, cases) : print_comparison(model, comparison, cases);
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "How far a model's outputs are from a reference; of a translator: those of both graphs");
  auto flags = std::make_shared<CompareFlags>();
  command->add_option("model", flags->path, "Model file")->required()->type_name("A.heed");
  command->add_option("reference", flags->other, "Another model file, the checkpoint's folder, or outputs in .npy, a row for each text")
      ->required()->type_name("B");
  command->add_option("--texts", flags->texts, "A file with a text on each line; - is standard input (default: sentences of heed's own)")->type_name("FILE");
  command->add_option("--task", flags->task, "The --task that the model was converted with, for a checkpoint's folder")->type_name("NAME");
  command->add_flag("--json", flags->json, "One JSON object");
  add_session_flags(*command, flags->session, {Flag::kPrecision, Flag::kIsa, Flag::kThreads});
  command->footer("Example:\n  heed compare build/models/minilm.heed ~/.cache/heed/minilm --texts tools/samples/sentences.txt");
  command->callback([flags] { compare(*flags); });
}

}  // namespace heed::tools
