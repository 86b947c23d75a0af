// SPDX-License-Identifier: Apache-2.0
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <algorithm>

#include "attention/palette.h"
#include "attention/pictures.h"
#include "error.h"

namespace heed::tools {
namespace {

constexpr size_t kPngGap = 8;
constexpr size_t kLargestCell = 16;
constexpr size_t kWantedSide = 1600;  // cells shrink until a picture is no larger, if they can
constexpr uint64_t kMostPngCells = 1u << 24;

// RGB, white where nothing is painted.
struct Image {
  size_t width;
  size_t height;
  std::vector<uint8_t> bytes;

  Image(size_t w, size_t h) : width(w), height(h), bytes(w * h * 3, 255) {}
  void fill(size_t left, size_t top, size_t side, Color color) {
    for (size_t y = top; y < top + side; ++y) {
      for (size_t x = left; x < left + side; ++x) {
        uint8_t* pixel = bytes.data() + (y * width + x) * 3;
        pixel[0] = color.red;
        pixel[1] = color.green;
        pixel[2] = color.blue;
      }
    }
  }
};

}  // namespace

void write_png(AtomicFile& file, const Attention& attention, const std::vector<Map>& maps) {
  check_cells(attention, maps.size(), kMostPngCells, "a PNG");
  const Arrangement arrangement = arrange(maps.size());
  const size_t rows = attention.rows.size();
  const size_t columns = attention.columns.size();
  const size_t most_cells = std::max(arrangement.across * columns, arrangement.down * rows);
  const size_t cell = std::clamp<size_t>(kWantedSide / most_cells, 1, kLargestCell);
  Image image(arrangement.across * (columns * cell + kPngGap) + kPngGap, arrangement.down * (rows * cell + kPngGap) + kPngGap);
  for (size_t i = 0; i < maps.size(); ++i) {
    const size_t left = kPngGap + i % arrangement.across * (columns * cell + kPngGap);
    const size_t top = kPngGap + i / arrangement.across * (rows * cell + kPngGap);
    const double most = double{largest_weight(maps[i])};
    for (size_t at = 0; at < maps[i].weights.size(); ++at) {
      const double weight = double{maps[i].weights[at]};
      image.fill(left + at % columns * cell, top + at / columns * cell, cell, paper_color(most > 0 ? weight / most : weight));
    }
  }
  const auto take = [](void* context, void* bytes, int count) { static_cast<AtomicFile*>(context)->write(bytes, static_cast<uint64_t>(count)); };
  if (!stbi_write_png_to_func(take, &file, static_cast<int>(image.width), static_cast<int>(image.height), 3, image.bytes.data(), static_cast<int>(image.width * 3))) {
    throw Error(attention.model + ": the picture of " + std::to_string(image.width) + " x " + std::to_string(image.height) + " could not be made");
  }
}

}  // namespace heed::tools
