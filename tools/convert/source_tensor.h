// A named tensor of a checkpoint, where it lies in a mapped file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heed::tools {

struct SourceTensor {
  std::string name;
  std::string file;  // for messages
  std::string type;  // as safetensors spells it: "F32", "BF16", ...
  std::vector<uint64_t> shape;
  const uint8_t* data = nullptr;  // may be misaligned
  uint64_t bytes = 0;
  std::shared_ptr<const void> owner = nullptr;  // of numbers that lie in no mapped file

  uint64_t count() const {  // elements; no overflow, the reader has checked it
    uint64_t n = 1;
    for (const uint64_t extent : shape) n *= extent;
    return n;
  }
  std::string title() const { return file + ": tensor '" + name + "'"; }
};

// A tensor of numbers that the converter works out itself. `origin` says in messages what they come from.
SourceTensor computed_tensor(const std::string& name, const std::string& origin, const std::vector<uint64_t>& shape,
                             std::vector<float> values);

// "[30522, 384]".
std::string shape_text(const std::vector<uint64_t>& shape);

float bf16_to_f32(uint16_t bits);
float f16_to_f32(uint16_t bits);
// Rounds to nearest even; infinite if the magnitude rounds above 65504.
uint16_t f32_to_f16(float value);

// The numbers of a tensor of type F64, F32, F16 or BF16. Throws Error, with the tensor and the place, for another
// type, for a value that is not finite, and for an F64 beyond what f32 holds.
std::vector<float> to_f32(const SourceTensor& tensor);

}  // namespace heed::tools
