// SPDX-License-Identifier: Apache-2.0
#include "cli/print.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "error.h"

namespace heed::tools {
namespace {

// Bytes of the UTF-8 character at the start of `text`, 0 if there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;  // surrogates
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

// Characters, which is about columns.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(std::string("standard output: cannot write: ") + std::strerror(errno));
  }
}

void note(const std::string& message) { std::fprintf(stderr, "heed: note: %s\n", printable(message).c_str()); }

std::string json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

void print_json(const Json& json) { print(json_text(json) + "\n"); }

Json json_number(float value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  double number = 0;
  std::from_chars(text, end, number);
  return number;
}

std::string fixed(double value, int decimals) {
  char text[400];
  const auto result = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, decimals);
  return std::string(text, result.ptr);
}

std::string grouped(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t i = text.size(); i > 3;) text.insert(i -= 3, ",");
  return text;
}

std::string human_bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  return fixed(value, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

std::string printable(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string safe;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const uint8_t byte = static_cast<uint8_t>(text[0]);
    // C1 control characters are C2 80 .. C2 9F.
    const bool control = byte < 0x20 || byte == 0x7F || (byte == 0xC2 && length == 2 && static_cast<uint8_t>(text[1]) < 0xA0);
    if (length == 0 || control) {
      const size_t count = std::max<size_t>(length, 1);
      for (size_t i = 0; i < count; ++i) {
        safe += "\\x";
        safe += kHex[static_cast<uint8_t>(text[i]) >> 4];
        safe += kHex[static_cast<uint8_t>(text[i]) & 15];
      }
      text.remove_prefix(count);
    } else {
      safe.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return safe;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') safe += "&lt;";
    else if (c == '>') safe += "&gt;";
    else if (c == '&') safe += "&amp;";
    else if (c == '"') safe += "&quot;";
    else safe += c;
  }
  return safe;
}

std::string shortened(std::string_view text, size_t most) {
  constexpr std::string_view kDots = "...";
  if (text.size() <= most) return printable(text);
  size_t end = most - kDots.size();
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return printable(text.substr(0, end)) + std::string(kDots);
}

std::string Table::text() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      const bool left = std::find(left_.begin(), left_.end(), i) != left_.end();
      line += (i ? "  " : "") + (left ? row[i] + space : space + row[i]);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace heed::tools
