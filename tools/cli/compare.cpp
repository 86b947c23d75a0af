// `heed compare`: how far the outputs of a model are from another model's, from its checkpoint's, or from given ones.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/npy.h"
#include "cli/passes.h"
#include "cli/print.h"
#include "cli/sample_texts.h"
#include "convert/convert.h"
#include "error.h"

namespace heed::tools {
namespace {

struct CompareFlags {
  std::string path;
  std::string other;
  std::string texts;
  bool json = false;
  SessionFlags session;
};

// What both sides run on. Without a tokenizer these are sequences of noise.
struct Cases {
  std::vector<std::string> texts;
  std::vector<Sequence> sequences;
};

Cases make_cases(const Model& model, const std::string& file) {
  Cases cases;
  const bool reads_text = model.tables().tokenizer() && model.tables().tokenizer()->kind() != schema::TokenizerKind::none;
  if (reads_text) {
    cases.texts = file.empty() ? split_lines(sample_texts()) : read_texts(file);
    const std::string prompt = prompt_text(model, std::nullopt);
    for (const std::string& text : cases.texts) cases.sequences.push_back(sequence_of_text(model, prompt + text));
    return cases;
  }
  if (!file.empty()) throw Error(model.path() + ": has no tokenizer, so --texts cannot be used");
  constexpr uint32_t kSequences = 32;
  constexpr uint32_t kMostRows = 64;
  const uint32_t most = std::min(kMostRows, model.max_sequence_rows());
  for (uint32_t i = 0; i < kSequences; ++i) cases.sequences.push_back(sequence_of_noise(model, 1 + i * (most - 1) / (kSequences - 1), i));
  return cases;
}

std::vector<OutputData> outputs_of(const Model& model, const std::vector<Sequence>& sequences, const SessionFlags& flags) {
  const Schedule schedule = make_schedule(model, sequences, 0, "text");
  Session session(model, make_limits(model, flags, schedule.extent), flags);
  return run_all(session, model, sequences, schedule);
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

// One output of all cases. SQNR is of all values together.
struct Difference {
  std::string output;
  double min_cosine = std::numeric_limits<double>::infinity();
  double mean_cosine = 0;
  double max_abs_error = 0;
  double sqnr_db = 0;
  size_t worst = 0;
};

Difference differ(const OutputData& ours, const OutputData& reference) {
  Difference difference;
  difference.output = ours.name;
  double signal = 0, noise = 0;
  for (uint64_t i = 0; i < ours.sequences(); ++i) {
    const std::span<const float> a = ours.of(i);
    const std::span<const float> b = reference.of(i);
    double ab = 0, aa = 0, bb = 0;
    for (size_t k = 0; k < a.size(); ++k) {
      const double error = double{a[k]} - b[k];
      ab += double{a[k]} * b[k];
      aa += double{a[k]} * a[k];
      bb += double{b[k]} * b[k];
      noise += error * error;
      // Not-a-number has to win, so the comparison is the other way round.
      if (!(std::fabs(error) <= difference.max_abs_error)) difference.max_abs_error = std::fabs(error);
    }
    signal += bb;
    const double cosine = aa == 0 && bb == 0 ? 1 : aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
    difference.mean_cosine += cosine / static_cast<double>(ours.sequences());
    if (!(cosine >= difference.min_cosine)) {
      difference.min_cosine = cosine;
      difference.worst = i;
    }
  }
  difference.sqnr_db = noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
  return difference;
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
    list.push_back(differ(ours[o], reference[o]));
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

std::vector<OutputData> reference_outputs(const CompareFlags& flags, const Model& model, const Cases& cases) {
  namespace fs = std::filesystem;
  SessionFlags defaults;
  defaults.threads = flags.session.threads;
  std::string path = flags.other;
  std::optional<AtomicFile> converted;  // never named
  if (fs::is_directory(path)) {
    ConvertOptions options;
    options.source = path;
    options.weights = "f32";
    converted.emplace(temporary_file("heed-reference.heed"));
    convert_into(options, *converted);
    path = converted->temporary_path();
  } else if (path.ends_with(".npy")) {
    return outputs_of(path, cases.texts);
  }
  const Model other(path, 0, flags.other);
  // Both tokenize for themselves: a difference there is a difference.
  const Cases others = cases.texts.empty() ? Cases{} : make_cases(other, flags.texts);
  if (cases.texts.empty()) check_inputs(model, other, flags);
  return outputs_of(other, cases.texts.empty() ? cases.sequences : others.sequences, defaults);
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

void compare(const CompareFlags& flags) {
  const Model model(flags.path);
  const Cases cases = make_cases(model, flags.texts);
  const std::vector<OutputData> reference = reference_outputs(flags, model, cases);
  const std::vector<Difference> list = differences(outputs_of(model, cases.sequences, flags.session), reference, flags);
  const auto text = [&](size_t index) { return cases.texts.empty() ? std::string() : cases.texts[index]; };
  if (flags.json) {
    Json outputs = Json::array();
    for (const Difference& d : list) {
      outputs.push_back({{"name", d.output}, {"min_cosine", finite(d.min_cosine)}, {"mean_cosine", finite(d.mean_cosine)},
                         {"max_abs_error", finite(d.max_abs_error)}, {"sqnr_db", finite(d.sqnr_db)}, {"worst", d.worst}, {"worst_text", text(d.worst)}});
    }
    Json json = outputs[0];
    json["texts"] = cases.sequences.size();
    json["outputs"] = outputs;
    return print_json(json);
  }
  Table table({"output", "texts", "min cosine", "mean cosine", "max abs error", "SQNR dB", "worst"});
  table.lean_left(6);
  for (const Difference& d : list) {
    const std::string worst = cases.texts.empty() ? "" : " " + shortened(text(d.worst), 60);
    table.add({printable(d.output), std::to_string(cases.sequences.size()), fixed(d.min_cosine, 6), fixed(d.mean_cosine, 6), fixed(d.max_abs_error, 6),
               fixed(d.sqnr_db, 1), std::to_string(d.worst + 1) + worst});
  }
  print(table.text());
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "How far a model's outputs are from a reference");
  auto flags = std::make_shared<CompareFlags>();
  command->add_option("model", flags->path, "Model file")->required()->type_name("A.heed");
  command->add_option("reference", flags->other, "Another model file, the checkpoint's folder, or outputs in .npy, a row for each text")
      ->required()->type_name("B");
  command->add_option("--texts", flags->texts, "A file with a text on each line (default: sentences of heed's own)")->type_name("FILE");
  command->add_flag("--json", flags->json, "One JSON object");
  add_session_flags(*command, flags->session, {Flag::kPrecision, Flag::kIsa, Flag::kThreads});
  command->footer("Example:\n  heed compare build/models/minilm.heed ~/.cache/heed/minilm --texts tools/samples/sentences.txt");
  command->callback([flags] { compare(*flags); });
}

}  // namespace heed::tools
