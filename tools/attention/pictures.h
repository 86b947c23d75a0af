// Matrices as files. All take maps of one attention and write them to a file that the caller commits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "attention/maps.h"
#include "files.h"

namespace heed::tools {

// Maps side by side, with labels, and each cell's weight as its tooltip. Throws Error if they are too many cells to be drawn.
void write_svg(AtomicFile& file, const Attention& attention, const std::vector<Map>& maps);
// Maps side by side, squares without labels.
void write_png(AtomicFile& file, const Attention& attention, const std::vector<Map>& maps);
// A page that holds every map and shows `first` when it opens; works offline.
void write_html(AtomicFile& file, const Attention& attention, MapKey first);

// Maps in rows and columns of a picture, as square as they can be arranged.
struct Arrangement {
  size_t across;
  size_t down;
};
Arrangement arrange(size_t maps);
// Throws Error if the maps have more cells than a picture of that kind may have.
void check_cells(const Attention& attention, size_t maps, uint64_t most, const char* kind);
// The largest weight of a map: what its darkest colour stands for.
float largest_weight(const Map& map);

}  // namespace heed::tools
