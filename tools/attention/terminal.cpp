// SPDX-License-Identifier: Apache-2.0
#include "attention/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string_view>

#include "attention/palette.h"
#include "attention/statistics.h"
#include "cli/print.h"

namespace heed::tools {
namespace {

constexpr uint32_t kCellWidth = 2;
constexpr size_t kMostLabel = 16;
constexpr uint32_t kLeastColumns = 40;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// One character of a label and the terminal columns it takes.
struct Glyph {
  std::string bytes;
  uint32_t width = 1;
};

uint32_t glyph_width(char32_t code) {
  const auto within = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
  if (within(0x0300, 0x036F) || within(0x200B, 0x200F) || within(0xFE00, 0xFE0F)) return 0;
  const bool wide = within(0x1100, 0x115F) || within(0x2E80, 0xA4CF) || within(0xAC00, 0xD7A3) || within(0xF900, 0xFAFF) || within(0xFE30, 0xFE6F) ||
                    within(0xFF00, 0xFF60) || within(0xFFE0, 0xFFE6) || within(0x1F300, 0x1FAFF) || within(0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

// Labels are valid UTF-8. A terminal that is not gets '?' for what is not ASCII; marks stay with the character before.
std::vector<Glyph> glyphs_of(std::string_view label, bool utf8) {
  std::vector<Glyph> glyphs;
  while (!label.empty()) {
    const uint8_t lead = static_cast<uint8_t>(label[0]);
    const size_t length = std::min<size_t>(label.size(), lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
    char32_t code = length == 1 ? lead : lead & (0xFF >> (length + 1));
    for (size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<uint8_t>(label[i]) & 0x3F);
    const uint32_t width = glyph_width(code);
    const std::string bytes(length == 1 || utf8 ? label.substr(0, length) : "?");
    if (width == 0 && !glyphs.empty()) {
      if (utf8) glyphs.back().bytes += bytes;
    } else {
      glyphs.push_back({bytes, utf8 ? width : 1});
    }
    label.remove_prefix(length);
  }
  if (glyphs.size() > kMostLabel) glyphs.resize(kMostLabel);
  return glyphs;
}

std::string padded(const std::vector<Glyph>& glyphs, uint32_t width, bool right) {
  std::string text;
  uint32_t used = 0;
  for (const Glyph& glyph : glyphs) {
    text += glyph.bytes;
    used += glyph.width;
  }
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

uint32_t width_of(const std::vector<Glyph>& glyphs) {
  uint32_t width = 0;
  for (const Glyph& glyph : glyphs) width += glyph.width;
  return width;
}

std::string weight_text(float weight) { return std::isnan(weight) ? "nan" : fixed(double{weight}, 4); }

class Picture {
 public:
  Picture(const Attention& attention, const Map& map, const TerminalForm& form) : map_(map), form_(form) {
    for (const std::string& label : attention.rows) rows_.push_back(glyphs_of(label, form.utf8));
    for (const std::string& label : attention.columns) columns_.push_back(glyphs_of(label, form.utf8));
    for (const auto& label : rows_) label_width_ = std::max(label_width_, width_of(label));
    for (const float weight : map.weights) most_ = weight > most_ ? weight : most_;
  }

  // Columns that do not fit beside one another follow in bands.
  std::string text() const {
    const uint32_t tail = static_cast<uint32_t>(kMostLabel) + 12;  // "  label 0.1234"
    const uint32_t width = std::max(form_.columns, kLeastColumns);
    const size_t band = width > label_width_ + tail + kCellWidth ? (width - label_width_ - tail) / kCellWidth : 1;
    std::string out;
    for (size_t first = 0; first < columns_.size(); first += band) {
      out += heads(first, std::min(first + band, columns_.size()));
      for (size_t row = 0; row < rows_.size(); ++row) out += line(row, first, std::min(first + band, columns_.size()));
    }
    return out;
  }

 private:
  // Labels of columns stand upright, the end of each just above its column.
  std::string heads(size_t first, size_t last) const {
    size_t height = 0;
    for (size_t column = first; column < last; ++column) height = std::max(height, columns_[column].size());
    std::string out;
    for (size_t at = 0; at < height; ++at) {
      std::string line(label_width_ + 1, ' ');
      for (size_t column = first; column < last; ++column) {
        const std::vector<Glyph>& label = columns_[column];
        const size_t skipped = height - label.size();
        line += at < skipped ? std::string(kCellWidth, ' ') : padded({label[at - skipped]}, kCellWidth, false);
      }
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
  }

  std::string line(size_t row, size_t first, size_t last) const {
    const std::span<const float> weights(map_.weights.data() + row * columns_.size(), columns_.size());
    std::string out = padded(rows_[row], label_width_, true) + " ";
    for (size_t column = first; column < last; ++column) out += cell(weights[column]);
    if (form_.colors) out += "\x1b[0m";
    const int32_t top = statistics_of(weights, 1, columns_.size()).top[0];
    if (top != kNoColumn) out += "  " + padded(columns_[static_cast<size_t>(top)], 0, false) + " " + weight_text(weights[static_cast<size_t>(top)]);
    return out + "\n";
  }

  std::string cell(float weight) const {
    constexpr std::array<const char*, 9> kBlocks = {" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
    constexpr std::string_view kInk = " .:-=+*#@";
    const double share = most_ > 0 ? double{weight} / most_ : 0;
    if (std::isnan(share)) return form_.colors ? "\x1b[0m??" : "??";
    if (form_.colors) {
      const size_t step = static_cast<size_t>(std::lround(share * (kTerminalRamp.size() - 1)));
      return "\x1b[48;5;" + std::to_string(kTerminalRamp[step]) + "m  ";
    }
    const size_t step = static_cast<size_t>(std::lround(share * (kBlocks.size() - 1)));
    const std::string one = form_.utf8 ? std::string(kBlocks[step]) : std::string(1, kInk[step]);
    return one + one;
  }

  const Map& map_;
  const TerminalForm& form_;
  std::vector<std::vector<Glyph>> rows_;
  std::vector<std::vector<Glyph>> columns_;
  uint32_t label_width_ = 0;
  float most_ = 0;
};

std::string numbers(const Attention& attention, const Map& map) {
  std::vector<std::string> head = {""};
  head.insert(head.end(), attention.columns.begin(), attention.columns.end());
  Table table(head);
  const size_t columns = attention.columns.size();
  for (size_t row = 0; row < attention.rows.size(); ++row) {
    std::vector<std::string> line = {attention.rows[row]};
    for (size_t column = 0; column < columns; ++column) line.push_back(weight_text(map.weights[row * columns + column]));
    table.add(line);
  }
  return table.text();
}

}  // namespace

TerminalForm terminal_form() {
  TerminalForm form;
  form.is_terminal = ::isatty(STDOUT_FILENO);
  const bool wants_color = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  form.colors = form.is_terminal && wants_color && (contains(environment("TERM"), "256") || !environment("COLORTERM").empty());
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = environment(name);
    if (locale.empty()) continue;
    form.utf8 = contains(locale, "UTF-8") || contains(locale, "utf8") || contains(locale, "UTF8") || contains(locale, "utf-8");
    break;
  }
  winsize size{};
  if (form.is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) form.columns = size.ws_col;
  return form;
}

std::string map_text(const Attention& attention, const Map& map, const TerminalForm& form) {
  const std::string body = form.is_terminal ? Picture(attention, map, form).text() : numbers(attention, map);
  const MapStatistics found = statistics_of(map.weights, attention.rows.size(), attention.columns.size());
  return map.title + "\n" + body + "within one of the diagonal " + fixed(found.near_diagonal, 4) + ", crossings " + std::to_string(found.crossings) +
         ", entropy " + fixed(found.entropy_bits, 4) + " bits\n";
}

}  // namespace heed::tools
