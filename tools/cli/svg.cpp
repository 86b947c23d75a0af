// SPDX-License-Identifier: Apache-2.0
#include "cli/svg.h"

#include "cli/print.h"

namespace heed::tools {

std::string svg_begin(double width, double height, int letters, std::string_view title) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + fixed(width, 0) + "\" height=\"" + fixed(height, 0) +
         "\" font-family=\"sans-serif\" font-size=\"" + std::to_string(letters) + "\" fill=\"#1a1a1a\">\n<title>" + escaped(printable(title)) +
         "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
}

std::string svg_at(double x, double y) { return "x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\""; }

}  // namespace heed::tools
