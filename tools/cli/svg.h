// What every picture in SVG begins with.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace heed::tools {

// The opening tag, a title, letters of `letters` units and a white sheet of width x height units; "</svg>\n" ends it.
std::string svg_begin(double width, double height, int letters, std::string_view title);

// x="..." y="...", to a tenth of a unit.
std::string svg_at(double x, double y);

}  // namespace heed::tools
