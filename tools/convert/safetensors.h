// Reads .safetensors files, strictly: every byte of the file is accounted for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

#include "convert/source_tensor.h"
#include "files.h"

namespace heed::tools {

struct Safetensors {
  MappedFile file;
  std::vector<SourceTensor> tensors;  // in order of their bytes
};

// Throws Error, naming the file and the tensor, unless the header fits the file, names each tensor once, and the
// tensors fill the rest of the file without overlap or hole, each as large as its shape and type say.
Safetensors read_safetensors(const std::filesystem::path& path);

}  // namespace heed::tools
