// Colours for weights from 0 to the largest one shown. Lightness alone tells them apart, so they hold for every kind of colour
// blindness and in grey.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

namespace heed::tools {

struct Color {
  uint8_t red;
  uint8_t green;
  uint8_t blue;
};

// On white paper: nearly white, sky blue, night blue.
constexpr std::array<Color, 3> kPaperRamp = {{{246, 248, 251}, {98, 152, 207}, {10, 32, 88}}};
// On a dark page: night blue, sky blue, pale yellow.
constexpr std::array<Color, 3> kDarkRamp = {{{24, 30, 48}, {70, 134, 196}, {255, 246, 196}}};
// The same way up among the 256 colours of terminals: dark blue, grey, yellow.
constexpr std::array<uint8_t, 11> kTerminalRamp = {17, 18, 24, 60, 66, 102, 144, 179, 221, 227, 230};
constexpr Color kNoNumber = {208, 92, 24};

// `share` of the largest weight shown; not-a-number has a colour of its own.
inline Color paper_color(double share) {
  if (std::isnan(share)) return kNoNumber;
  const double at = std::clamp(share, 0.0, 1.0) * (kPaperRamp.size() - 1);
  const size_t from = std::min(static_cast<size_t>(at), kPaperRamp.size() - 2);
  const auto mix = [&](uint8_t a, uint8_t b) { return static_cast<uint8_t>(std::lround(a + (at - static_cast<double>(from)) * (b - a))); };
  const Color& a = kPaperRamp[from];
  const Color& b = kPaperRamp[from + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

inline std::string hex(Color color) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (const uint8_t part : {color.red, color.green, color.blue}) {
    text += kDigits[part >> 4];
    text += kDigits[part & 15];
  }
  return text;
}

}  // namespace heed::tools
