// `heed attention`: where a model looked, as text, numbers, pictures or a page.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "attention/collect.h"
#include "attention/pictures.h"
#include "attention/statistics.h"
#include "attention/terminal.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/npy.h"
#include "cli/print.h"
#include "error.h"

namespace heed::tools {
namespace {

struct AttentionFlags {
  std::string path;
  InputFlags from;
  std::string layer;
  std::string head;
  std::string output;
  bool json = false;
  TranslateFlags translate;
  SessionFlags session;
};

// [layers,] [heads,] rows, columns: an axis for what was asked for with "all".
void write_maps_npy(AtomicFile& file, const AttentionFlags& flags, const Attention& attention, const std::vector<Map>& maps) {
  std::vector<uint64_t> shape;
  const size_t layers = flags.layer == "all" ? attention.layers.size() : 1;
  if (maps.size() % layers != 0 || std::any_of(attention.layers.begin(), attention.layers.end(), [&](const AttentionLayer& layer) {
        return flags.layer == "all" && flags.head == "all" && layer.heads != attention.layers[0].heads;
      })) {
    throw UsageError("--layer all --head all: the layers of " + attention.model + " differ in heads, so they make no array; choose one layer");
  }
  if (flags.layer == "all") shape.push_back(layers);
  if (flags.head == "all") shape.push_back(maps.size() / layers);
  shape.push_back(attention.rows.size());
  shape.push_back(attention.columns.size());
  std::vector<float> values;
  for (const Map& map : maps) values.insert(values.end(), map.weights.begin(), map.weights.end());
  write_npy(file, shape, values);
}

enum class FileKind { kHtml, kSvg, kPng, kNpy };

FileKind kind_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".html") return FileKind::kHtml;
  if (extension == ".svg") return FileKind::kSvg;
  if (extension == ".png") return FileKind::kPng;
  if (extension == ".npy") return FileKind::kNpy;
  throw UsageError("-o " + path + ": the name ends with .html, .svg, .png or .npy");
}

// The file that -o names, made before the model runs so that an unwritable one is told at once.
std::unique_ptr<AtomicFile> open_output(const AttentionFlags& flags) {
  if (flags.output.empty()) return nullptr;
  kind_of(flags.output);
  std::vector<std::string> read = {flags.path};
  if (!flags.from.texts.empty()) read.push_back(flags.from.texts);
  for (const std::string& assignment : flags.from.inputs) read.push_back(split_assignment("--input", assignment).second);
  for (const std::string& path : read) {
    if (same_file(flags.output, path)) throw UsageError("-o " + flags.output + ": is read, too; name another file");
  }
  return std::make_unique<AtomicFile>(flags.output);
}

void write_output(AtomicFile& file, const AttentionFlags& flags, const Attention& attention, const std::vector<Map>& maps) {
  switch (kind_of(flags.output)) {
    case FileKind::kHtml: write_html(file, attention, maps[0].key); break;
    case FileKind::kSvg: write_svg(file, attention, maps); break;
    case FileKind::kPng: write_png(file, attention, maps); break;
    case FileKind::kNpy: write_maps_npy(file, flags, attention, maps); break;
  }
  file.flush();
  file.commit();
}

Json json_share(double share) { return std::isfinite(share) ? Json(share) : Json(nullptr); }

Json json_layers(const Attention& attention) {
  Json layers = Json::array();
  for (size_t layer = 0; layer < attention.layers.size(); ++layer) {
    Json entropy = Json::array();
    for (uint32_t head = 0; head < attention.layers[layer].heads; ++head) {
      const Map map = make_map(attention, {static_cast<int32_t>(layer), static_cast<int32_t>(head)});
      entropy.push_back(json_share(statistics_of(map.weights, attention.rows.size(), attention.columns.size()).entropy_bits));
    }
    layers.push_back({{"layer", layer}, {"name", attention.layers[layer].name}, {"heads", attention.layers[layer].heads}, {"entropy_bits", entropy}});
  }
  return layers;
}

Json json_map(const Attention& attention, const Map& map) {
  const size_t columns = attention.columns.size();
  const MapStatistics found = statistics_of(map.weights, attention.rows.size(), columns);
  Json top = Json::array();
  Json weights = Json::array();
  for (size_t row = 0; row < attention.rows.size(); ++row) {
    const int32_t column = found.top[row];
    const size_t at = row * columns + static_cast<size_t>(std::max(column, 0));
    if (column == kNoColumn) top.push_back({{"row", attention.rows[row]}, {"column", nullptr}, {"index", nullptr}, {"weight", nullptr}});
    else top.push_back({{"row", attention.rows[row]}, {"column", attention.columns[static_cast<size_t>(column)]}, {"index", column}, {"weight", json_number(map.weights[at])}});
    Json values = Json::array();
    for (size_t i = 0; i < columns; ++i) values.push_back(json_number(map.weights[row * columns + i]));
    weights.push_back(std::move(values));
  }
  const Json layer = map.key.layer == kRolloutLayer ? Json("rollout") : Json(map.key.layer);
  const Json head = map.key.head == kMeanHead ? Json("mean") : Json(map.key.head);
  return {{"layer", layer}, {"head", head}, {"near_diagonal", json_share(found.near_diagonal)}, {"crossings", found.crossings},
          {"entropy_bits", json_share(found.entropy_bits)}, {"top", std::move(top)}, {"weights", std::move(weights)}};
}

void print_maps(const AttentionFlags& flags, const Attention& attention, const std::vector<Map>& maps) {
  if (flags.json) {
    Json list = Json::array();
    for (const Map& map : maps) list.push_back(json_map(attention, map));
    return print_json({{"model", attention.model}, {"rows", attention.rows}, {"columns", attention.columns}, {"layers", json_layers(attention)}, {"maps", std::move(list)}});
  }
  const TerminalForm form = terminal_form();
  for (size_t i = 0; i < maps.size(); ++i) print((i ? "\n" : "") + map_text(attention, maps[i], form));
  if (!flags.output.empty()) print("wrote " + printable(flags.output) + "\n");
}

// What to look at is checked before the model runs.
Attention collect_pass(const Model& model, const AttentionFlags& flags, std::vector<MapKey>* keys) {
  refuse_translate_flags(model, flags.translate);
  const Work work = gather(model, flags.from);
  if (work.sequences.size() != 1) throw Error(flags.from.texts + ": has " + std::to_string(work.sequences.size()) + " texts; attention is shown for one");
  Attention attention = describe_attention(model, work.sequences[0]);
  *keys = choose_maps(attention, flags.layer, flags.head);
  collect_attention(model, work.sequences[0], flags.session, &attention);
  return attention;
}

Attention collect_translation(const Model& model, const AttentionFlags& flags, std::vector<MapKey>* keys) {
  *keys = choose_maps(describe_translation(model), flags.layer, flags.head);
  return translation_attention(model, gather_translations(model, flags.from), flags.translate, flags.session);
}

void show(const AttentionFlags& flags) {
  const std::unique_ptr<AtomicFile> file = open_output(flags);
  const Model model(flags.path);
  std::vector<MapKey> keys;
  const Attention attention = is_translator(model) ? collect_translation(model, flags, &keys) : collect_pass(model, flags, &keys);
  std::vector<Map> maps;
  for (const MapKey key : keys) maps.push_back(make_map(attention, key));
  if (file) write_output(*file, flags, attention, maps);
  print_maps(flags, attention, maps);
}

}  // namespace

void add_attention(CLI::App& app) {
  CLI::App* command = app.add_subcommand("attention", "Show where a model looked");
  auto flags = std::make_shared<AttentionFlags>();
  command->add_option("model", flags->path, "Model file")->required()->type_name("m.heed");
  add_input_flags(*command, flags->from);
  command->add_option("--layer", flags->layer, "A layer's number, all, or rollout: all layers multiplied (default: the last)")->type_name("L");
  command->add_option("--head", flags->head, "A head's number, mean, or all (default: mean)")->type_name("H");
  command->add_option("-o", flags->output, "Write a page to explore, a picture, or an array")->type_name("map.html|.svg|.png|.npy");
  command->add_flag("--json", flags->json, "One JSON object: weights, each row's top column, entropy, share near the diagonal, crossings");
  add_translate_flags(*command, flags->translate);
  add_session_flags(*command, flags->session, {Flag::kIsa, Flag::kThreads, Flag::kPrecision, Flag::kRows, Flag::kTileRows, Flag::kArena});
  command->footer("Example:\n  heed attention build/models/minilm.heed --text \"A cat sat on the mat.\" -o map.html");
  command->callback([flags] { show(*flags); });
}

}  // namespace heed::tools
