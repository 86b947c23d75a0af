// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "attention/page.h"
#include "attention/palette.h"
#include "attention/pictures.h"
#include "attention/statistics.h"
#include "cli/print.h"

namespace heed::tools {
namespace {

constexpr uint64_t kMostPageCells = uint64_t{1} << 25;  // 90 MB of page
// Weights as 16-bit integers: 65534 is 1.
constexpr double kOne = 65534;
constexpr uint16_t kNoNumberCode = 65535;

std::string base64(const std::vector<uint8_t>& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = std::min<size_t>(bytes.size() - i, 3);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < left ? bytes[i + k] : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= left ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string encoded(const Map& map) {
  std::vector<uint8_t> bytes;
  for (const float weight : map.weights) {
    const uint16_t code = std::isnan(weight) ? kNoNumberCode : static_cast<uint16_t>(std::lround(std::clamp(double{weight}, 0.0, 1.0) * kOne));
    bytes.push_back(static_cast<uint8_t>(code & 255));
    bytes.push_back(static_cast<uint8_t>(code >> 8));
  }
  return base64(bytes);
}

Json ramp(const std::array<Color, 3>& colors) {
  Json list = Json::array();
  for (const Color color : colors) list.push_back({color.red, color.green, color.blue});
  return list;
}

std::string facts_of(const Attention& attention, const Map& map) {
  const MapStatistics found = statistics_of(map.weights, attention.rows.size(), attention.columns.size());
  return fixed(100 * found.near_diagonal, 1) + " % of the weight is within one of the diagonal; " + std::to_string(found.crossings) +
         " crossings; entropy " + fixed(found.entropy_bits, 2) + " bits";
}

Json entry(const Attention& attention, const Map& map) {
  const bool is_rollout = map.key.layer == kRolloutLayer;
  std::string layer = is_rollout ? "rollout" : std::to_string(map.key.layer);
  std::string title = layer;
  if (!is_rollout && !attention.layers[static_cast<size_t>(map.key.layer)].name.empty()) title += " (" + attention.layers[static_cast<size_t>(map.key.layer)].name + ")";
  return {{"layer", layer}, {"layerTitle", title}, {"headTitle", map.key.head == kMeanHead ? "mean" : std::to_string(map.key.head)},
          {"facts", facts_of(attention, map)}};
}

// JSON that may stand inside a script element whatever a label holds.
std::string for_script(const Json& json) {
  std::string safe;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) safe += c == '<' ? "\\u003c" : std::string(1, c);
  return safe;
}

}  // namespace

void write_html(AtomicFile& file, const Attention& attention, MapKey first) {
  const std::vector<MapKey> keys = all_maps(attention);
  check_cells(attention, keys.size(), kMostPageCells, "a page");
  const auto write = [&](std::string_view text) { file.write(text.data(), text.size()); };
  write(page_begin());
  Json maps = Json::array();
  size_t shown = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Map map = make_map(attention, keys[i]);
    if (keys[i].layer == first.layer && keys[i].head == first.head) shown = i;
    maps.push_back(entry(attention, map));
    write("<script type=\"text/plain\" id=\"weights" + std::to_string(i) + "\">" + encoded(map) + "</script>\n");
  }
  const std::string name = std::filesystem::path(attention.model).filename().string();
  write("<script type=\"application/json\" id=\"data\">" +
        for_script({{"model", printable(name)}, {"rows", attention.rows}, {"columns", attention.columns}, {"first", shown},
                    {"ramps", {{"light", ramp(kPaperRamp)}, {"dark", ramp(kDarkRamp)}}}, {"maps", maps}}) + "</script>\n<script>\n");
  write(page_script());
  write("</script>\n</body>\n</html>\n");
}

}  // namespace heed::tools
