// SPDX-License-Identifier: Apache-2.0
#include "attention/pictures.h"

#include "cli/print.h"
#include "error.h"

namespace heed::tools {

Arrangement arrange(size_t maps) {
  size_t across = 1;
  while (across * across < maps) ++across;
  return {across, (maps + across - 1) / across};
}

void check_cells(const Attention& attention, size_t maps, uint64_t most, const char* kind) {
  const uint64_t cells = uint64_t{maps} * attention.rows.size() * attention.columns.size();
  if (cells <= most) return;
  throw Error(attention.model + ": " + std::to_string(maps) + " maps of " + std::to_string(attention.rows.size()) + " x " +
              std::to_string(attention.columns.size()) + " are " + grouped(cells) + " cells, at most " + grouped(most) + " go into " + kind +
              "; choose one with --layer and --head, or write .npy");
}

float largest_weight(const Map& map) {
  float most = 0;
  for (const float weight : map.weights) most = weight > most ? weight : most;
  return most;
}

}  // namespace heed::tools
