// `heed run`: one graph on texts, ids or .npy files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/digest.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/npy.h"
#include "cli/passes.h"
#include "cli/print.h"
#include "error.h"

namespace heed::tools {
namespace {

struct RunFlags {
  std::string path;
  InputFlags from;
  std::vector<std::string> outputs;
  bool digest = false;
  bool json = false;
  TranslateFlags translate;
  SessionFlags session;
};

// Of all bytes: for each sequence, for each output. Does not depend on which sequences ran together.
std::string digest(const std::vector<OutputData>& outputs) {
  Digest digest;
  for (uint64_t sequence = 0; sequence < outputs[0].sequences(); ++sequence) {
    for (const OutputData& output : outputs) digest.add(output.of(sequence));
  }
  return digest.text();
}

std::vector<uint64_t> shape_of(const OutputData& output) { return {output.rows(), output.features}; }

// The files that --output names: made before the run, so that an unwritable one is told at once, and given their
// names together at the end.
class OutputFiles {
 public:
  OutputFiles(const Model& model, const RunFlags& flags) {
    std::set<std::string> names;
    std::vector<std::string> paths;  // that are taken
    for (const std::string& assignment : flags.from.inputs) paths.push_back(split_assignment("--input", assignment).second);
    paths.push_back(flags.path);
    if (!flags.from.texts.empty()) paths.push_back(flags.from.texts);
    for (const std::string& assignment : flags.outputs) {
      const auto [name, path] = split_assignment("--output", assignment);
      if (!names.insert(name).second) throw UsageError("--output " + name + " is given twice");
      for (const std::string& taken : paths) {
        if (same_file(path, taken)) throw UsageError("--output " + assignment + ": writes the same file twice, or one that is read: " + taken);
      }
      paths.push_back(path);
      files_.push_back({index_of(model, name), std::make_unique<AtomicFile>(path)});
    }
  }
  void write(const std::vector<OutputData>& outputs) {
    for (auto& [index, file] : files_) write_npy(*file, shape_of(outputs[index]), outputs[index].values);
    for (auto& [index, file] : files_) file->flush();
    for (auto& [index, file] : files_) file->commit();
  }

 private:
  static uint32_t index_of(const Model& model, const std::string& name) {
    std::string names;
    for (uint32_t i = 0; i < model.graph().outputs()->size(); ++i) {
      const std::string known = model.graph().outputs()->Get(i)->name()->str();
      if (known == name) return i;
      names += (names.empty() ? "" : ", ") + known;
    }
    throw UsageError("--output " + name + ": " + model.path() + " has no such output; it has " + names);
  }
  std::vector<std::pair<uint32_t, std::unique_ptr<AtomicFile>>> files_;
};

std::string json_row(const OutputData& output, uint64_t row) {
  std::string text = "[";
  for (uint64_t i = 0; i < output.features; ++i) {
    text += (i ? ", " : "") + json_number(output.values[row * output.features + i]).dump();
  }
  return text + "]";
}

// The object `head` with the outputs behind its own members, written row by row: values as text take many times the
// room of values.
void print_json_outputs(const Json& head, const std::vector<OutputData>& outputs) {
  const std::string text = json_text(head);
  print(text.substr(0, text.rfind('\n')) + ",\n  \"outputs\": [");
  const char* comma = "";
  for (const OutputData& output : outputs) {
    print(comma + std::string("\n    {\"name\": ") + json_text(output.name) + ", \"shape\": [" + std::to_string(output.rows()) + ", " +
          std::to_string(output.features) + "], \"data\": [");
    comma = ",";
    for (uint64_t row = 0; row < output.rows(); ++row) print((row ? ",\n      " : "\n      ") + json_row(output, row));
    print("]}");
  }
  print("\n  ]\n}\n");
}

void print_output(const OutputData& output) {
  constexpr size_t kShown = 8;
  std::string line = printable(output.name) + " " + shape_text(shape_of(output)) + ":";
  for (size_t i = 0; i < std::min(kShown, output.values.size()); ++i) line += " " + fixed(output.values[i], 4);
  print(line + (output.values.size() > kShown ? " ...\n" : "\n"));
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// How alike the texts are, each with each, for an output with one row a text.
void print_similarities(const OutputData& output, const std::vector<std::string>& texts) {
  std::vector<std::string> head = {"cosine similarity"};
  for (size_t i = 0; i < texts.size(); ++i) head.push_back(std::to_string(i + 1));
  Table table(head);
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::string> row = {std::to_string(i + 1) + "  " + shortened(texts[i], 60)};
    for (size_t j = 0; j < texts.size(); ++j) row.push_back(fixed(cosine(output.of(i), output.of(j)), 3));
    table.add(row);
  }
  print(table.text());
}

void run_translator(const Model& model, const RunFlags& flags) {
  if (!flags.outputs.empty()) throw UsageError(model.path() + " translates texts: it gives a text, so there is no --output");
  const TranslateWork work = gather_translations(model, flags.from);
  translate(model, work, flags.translate, flags.session, {flags.json, flags.digest});
}

void run(const RunFlags& flags) {
  const Model model(flags.path);
  if (is_translator(model)) return run_translator(model, flags);
  refuse_translate_flags(model, flags.translate);
  const Work work = gather(model, flags.from);
  OutputFiles files(model, flags);
  const Schedule schedule = make_schedule(model, work.sequences, flags.session.rows, work.place);
  Sessions sessions(model, flags.session, schedule);
  const std::vector<OutputData> outputs = run_all(sessions, model, work.sequences, schedule);
  files.write(outputs);

  if (flags.json) {
    return print_json_outputs({{"sequences", work.sequences.size()}, {"passes", schedule.passes.size()}, {"isa", sessions[0].isa()},
                               {"threads", flags.session.threads}, {"sessions", sessions.count()}, {"arena_bytes", sessions.arena_bytes()}, {"digest", digest(outputs)}},
                              outputs);
  }
  for (const OutputData& output : outputs) print_output(output);
  constexpr size_t kMostCompared = 12;
  if (work.texts.size() > 1 && work.texts.size() <= kMostCompared && outputs[0].rows() == work.texts.size()) {
    print_similarities(outputs[0], work.texts);
  }
  if (flags.digest) print(digest(outputs) + "\n");
}

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "Run a model on texts, ids or .npy files");
  auto flags = std::make_shared<RunFlags>();
  command->add_option("model", flags->path, "Model file")->required()->type_name("m.heed");
  add_input_flags(*command, flags->from);
  command->add_option("--output", flags->outputs, "Write an output, the rows of all texts one after another; again for each")
      ->type_name("NAME=y.npy")->allow_extra_args(false);
  command->add_flag("--digest", flags->digest, "Print as last line a 64-bit xxHash of all output bytes");
  command->add_flag("--json", flags->json, "One JSON object with all values");
  add_translate_flags(*command, flags->translate);
  add_session_flags(*command, flags->session, {Flag::kIsa, Flag::kThreads, Flag::kPrecision, Flag::kRows, Flag::kTileRows, Flag::kArena});
  command->footer("Example:\n  heed run build/models/minilm.heed --text \"A cat sat on the mat.\" --output embedding=cat.npy");
  command->callback([flags] { run(*flags); });
}

}  // namespace heed::tools
