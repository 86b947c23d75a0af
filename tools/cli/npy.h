// NumPy's .npy files, read strictly and written as version 1.0.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convert/source_tensor.h"
#include "files.h"

namespace heed::tools {

// Either floats or integers hold the elements, in C order. Doubles become floats, 64-bit integers must fit 32 bits.
struct NpyArray {
  std::vector<uint64_t> shape;
  bool is_integer = false;
  std::vector<float> floats;
  std::vector<int32_t> integers;

  uint64_t count() const { return is_integer ? integers.size() : floats.size(); }
};

// Throws Error for anything but a little-endian C-order array of f4, f8, i4 or i8 whose file has exactly its size.
NpyArray read_npy(const std::filesystem::path& path);

// Writes f32 data; the file appears when the caller commits.
void write_npy(AtomicFile& file, const std::vector<uint64_t>& shape, const std::vector<float>& data);

}  // namespace heed::tools
