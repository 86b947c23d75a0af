// Writes safetensors files for tests: good ones from tensors, and bad ones from any header.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace heed::test {

struct RawTensor {
  std::string name;
  std::string type;
  std::vector<uint64_t> shape;
  std::string bytes;
};

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline RawTensor f32_tensor(const std::string& name, std::vector<uint64_t> shape, const std::vector<float>& values) {
  return {name, "F32", std::move(shape), bytes_of(values)};
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// u64 length, header, data.
inline std::string safetensors_bytes(const std::string& header, const std::string& data) {
  return bytes_of(std::vector<uint64_t>{header.size()}) + header + data;
}

inline std::string safetensors_bytes(const std::vector<RawTensor>& tensors) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}";
  std::string data;
  for (const RawTensor& tensor : tensors) {
    std::string shape;
    for (const uint64_t extent : tensor.shape) shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    header += ",\"" + tensor.name + "\":{\"dtype\":\"" + tensor.type + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + tensor.bytes.size()) + "]}";
    data += tensor.bytes;
  }
  return safetensors_bytes(header + "}", data);
}

}  // namespace heed::test
