// Matrices as text: numbers for a pipe, block characters or colours for a terminal.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "attention/maps.h"

namespace heed::tools {

// What standard output can show.
struct TerminalForm {
  bool is_terminal = false;
  bool colors = false;  // 256 of them; NO_COLOR turns them off
  bool utf8 = false;
  uint32_t columns = 80;
};
TerminalForm terminal_form();

// A title, then a line for each row: its label, its weights (four decimals or a cell each) and the column it looks at most.
std::string map_text(const Attention& attention, const Map& map, const TerminalForm& form);

}  // namespace heed::tools
