// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "attention/palette.h"
#include "attention/pictures.h"
#include "cli/print.h"
#include "cli/svg.h"

namespace heed::tools {
namespace {

constexpr double kCell = 22;
constexpr double kLetter = 7.5;  // about the width of a letter of 12 units
constexpr double kSvgGap = 24;
constexpr double kTitle = 22;
constexpr size_t kShownLabel = 24;  // bytes
constexpr uint64_t kMostSvgCells = 1u << 18;  // 30 MB of picture

double room_for(const std::vector<std::string>& labels) {
  size_t most = 0;
  for (const std::string& label : labels) most = std::max(most, std::min(label.size(), kShownLabel));
  return kLetter * static_cast<double>(most) + 10;
}

class Sheet {
 public:
  Sheet(const Attention& attention, size_t maps)
      : attention_(attention), arrangement_(arrange(maps)), left_(room_for(attention.rows)), top_(room_for(attention.columns) + kTitle),
        width_(left_ + kCell * static_cast<double>(attention.columns.size()) + kSvgGap), height_(top_ + kCell * static_cast<double>(attention.rows.size()) + kSvgGap) {}

  std::string begin() const {
    return svg_begin(width_ * static_cast<double>(arrangement_.across), height_ * static_cast<double>(arrangement_.down), 12, attention_.model);
  }

  std::string panel(const Map& map, size_t place) const {
    const double x = width_ * static_cast<double>(place % arrangement_.across);
    const double y = height_ * static_cast<double>(place / arrangement_.across);
    std::string out = "<g transform=\"translate(" + fixed(x, 1) + " " + fixed(y, 1) + ")\">\n<text " + svg_at(6, 16) + " font-weight=\"bold\">" + escaped(map.title) + "</text>\n";
    for (size_t row = 0; row < attention_.rows.size(); ++row) {
      out += "<text " + svg_at(left_ - 5, top_ + kCell * (static_cast<double>(row) + 0.7)) + " text-anchor=\"end\">" + shown(attention_.rows[row]) + "</text>\n";
    }
    for (size_t column = 0; column < attention_.columns.size(); ++column) {
      const double middle = left_ + kCell * (static_cast<double>(column) + 0.68);
      out += "<text transform=\"translate(" + fixed(middle, 1) + " " + fixed(top_ - 5, 1) + ") rotate(-90)\">" + shown(attention_.columns[column]) + "</text>\n";
    }
    return out + cells(map) + "</g>\n";
  }

 private:
  static std::string shown(const std::string& label) { return escaped(shortened(label, kShownLabel)); }

  std::string cells(const Map& map) const {
    const double most = double{largest_weight(map)};
    const size_t columns = attention_.columns.size();
    std::string out;
    for (size_t row = 0; row < attention_.rows.size(); ++row) {
      for (size_t column = 0; column < columns; ++column) {
        const double weight = double{map.weights[row * columns + column]};
        out += "<rect " + svg_at(left_ + kCell * static_cast<double>(column), top_ + kCell * static_cast<double>(row)) + " width=\"" + fixed(kCell - 1, 0) + "\" height=\"" +
               fixed(kCell - 1, 0) + "\" fill=\"" + hex(paper_color(most > 0 ? weight / most : weight)) + "\"><title>" + escaped(attention_.rows[row]) + " looks at " +
               escaped(attention_.columns[column]) + ": " + fixed(weight, 4) + "</title></rect>\n";
      }
    }
    return out;
  }

  const Attention& attention_;
  Arrangement arrangement_;
  double left_;
  double top_;
  double width_;
  double height_;
};

}  // namespace

void write_svg(AtomicFile& file, const Attention& attention, const std::vector<Map>& maps) {
  check_cells(attention, maps.size(), kMostSvgCells, "an SVG");
  const Sheet sheet(attention, maps.size());
  const auto write = [&](const std::string& text) { file.write(text.data(), text.size()); };
  write(sheet.begin());
  for (size_t i = 0; i < maps.size(); ++i) write(sheet.panel(maps[i], i));
  write("</svg>\n");
}

}  // namespace heed::tools
