// Numbers of a checkpoint as f32.
// SPDX-License-Identifier: Apache-2.0
#include "convert/source_tensor.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "error.h"

namespace heed::tools {
namespace {

// "[3, 17]": where flat index `index` is in `shape`.
std::string place_text(const std::vector<uint64_t>& shape, uint64_t index) {
  std::vector<uint64_t> place(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    place[d] = index % shape[d];
    index /= shape[d];
  }
  return shape_text(place);
}

template <class Raw, class ToFloat>
std::vector<float> convert_all(const SourceTensor& tensor, ToFloat to_float) {
  std::vector<float> values(tensor.count());
  for (uint64_t i = 0; i < values.size(); ++i) {
    Raw raw;
    std::memcpy(&raw, tensor.data + i * sizeof(Raw), sizeof(Raw));
    values[i] = to_float(raw);
    if (std::isfinite(values[i])) continue;
    std::string found = std::isnan(values[i]) ? "not a number" : "infinite";
    if constexpr (sizeof(Raw) == 8) {
      if (std::isfinite(raw)) found = "beyond what f32 can hold";
    }
    throw Error(tensor.title() + ": element " + place_text(tensor.shape, i) + " is " + found +
                "; the checkpoint is damaged or training diverged, use another one");
  }
  return values;
}

}  // namespace

SourceTensor computed_tensor(const std::string& name, const std::string& origin, const std::vector<uint64_t>& shape,
                             std::vector<float> values) {
  const auto owner = std::make_shared<const std::vector<float>>(std::move(values));
  return {name, origin, "F32", shape, reinterpret_cast<const uint8_t*>(owner->data()), owner->size() * sizeof(float), owner};
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 31;
  const uint32_t fraction = bits & 1023;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  if (magnitude < 0x1p-14f) {
    // Adding 0.5 leaves a subnormal's 10 bits, rounded to even, at the bottom of the sum's fraction.
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(magnitude + 0.5f) - std::bit_cast<uint32_t>(0.5f));
  }
  const uint32_t odd = bits >> 13 & 1;
  const uint32_t rounded = (bits & 0x7fffffff) + 0xfff + odd;
  return sign | static_cast<uint16_t>((rounded >> 13) - (112 << 10));
}

std::vector<float> to_f32(const SourceTensor& tensor) {
  if (tensor.type == "F32") return convert_all<float>(tensor, [](float x) { return x; });
  if (tensor.type == "F16") return convert_all<uint16_t>(tensor, f16_to_f32);
  if (tensor.type == "BF16") return convert_all<uint16_t>(tensor, bf16_to_f32);
  if (tensor.type == "F64") {
    return convert_all<double>(tensor, [](double x) {
      return std::fabs(x) <= 3.4028234663852886e38 ? static_cast<float>(x) : std::isnan(x) ? NAN : INFINITY;
    });
  }
  throw Error(tensor.title() + " is of type " + tensor.type +
              "; heed reads F64, F32, F16 and BF16. Save the checkpoint in one of these");
}

}  // namespace heed::tools
