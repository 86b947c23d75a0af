// The .safetensors format: u64 length of a JSON header, the header, and the tensors' bytes with nothing between.
// SPDX-License-Identifier: Apache-2.0
#include "convert/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "convert/json.h"
#include "error.h"

namespace heed::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are little-endian and read in place");

constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kMaxDimensions = 16;

const std::map<std::string, uint32_t> kTypeBits = {
    {"BOOL", 8},  {"U8", 8},   {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"I16", 16}, {"U16", 16}, {"F16", 16},
    {"BF16", 16}, {"I32", 32}, {"U32", 32}, {"F32", 32},    {"I64", 64},    {"U64", 64}, {"F64", 64}};

uint64_t unsigned_number(const Json& value, const std::string& title, const char* what) {
  if (!value.is_number_unsigned()) throw Error(title + ": " + what + " is " + shown(value) + ", not a whole number");
  return value.get<uint64_t>();
}

const Json& member(const Json& entry, const char* key, const std::string& title) {
  const auto found = entry.find(key);
  if (found == entry.end()) throw Error(title + ": the header's entry lacks \"" + key + "\"");
  return *found;
}

// Fills in type and shape, and returns the bytes they ask for.
uint64_t read_shape(const Json& entry, SourceTensor& tensor) {
  const Json& type = member(entry, "dtype", tensor.title());
  const auto bits = type.is_string() ? kTypeBits.find(type.get<std::string>()) : kTypeBits.end();
  if (bits == kTypeBits.end()) throw Error(tensor.title() + ": unknown dtype " + shown(type));
  tensor.type = bits->first;
  const Json& shape = member(entry, "shape", tensor.title());
  if (!shape.is_array() || shape.size() > kMaxDimensions) throw Error(tensor.title() + ": bad shape " + shown(shape));
  uint64_t count = 1;
  for (const Json& extent : shape) {
    tensor.shape.push_back(unsigned_number(extent, tensor.title(), "an extent"));
    if (__builtin_mul_overflow(count, tensor.shape.back(), &count)) {
      throw Error(tensor.title() + ": shape " + shown(shape) + " overflows 64 bits");
    }
  }
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, uint64_t{bits->second / 8}, &bytes)) {
    throw Error(tensor.title() + ": shape " + shown(shape) + " overflows 64 bits");
  }
  return bytes;
}

SourceTensor read_entry(const std::string& name, const Json& entry, const MappedFile& file, uint64_t data_begin) {
  SourceTensor tensor;
  tensor.name = name;
  tensor.file = file.path().string();
  if (name.find('\0') != std::string::npos) throw Error(tensor.file + ": a tensor's name holds a zero byte");
  if (!entry.is_object()) throw Error(tensor.title() + ": the header's entry is " + shown(entry) + ", not an object");
  const uint64_t wanted = read_shape(entry, tensor);
  const Json& offsets = member(entry, "data_offsets", tensor.title());
  if (!offsets.is_array() || offsets.size() != 2) throw Error(tensor.title() + ": bad data_offsets " + shown(offsets));
  const uint64_t begin = unsigned_number(offsets[0], tensor.title(), "an offset");
  const uint64_t end = unsigned_number(offsets[1], tensor.title(), "an offset");
  const uint64_t available = file.size() - data_begin;
  if (begin > end || end > available) {
    throw Error(tensor.title() + ": bytes " + shown(offsets) + " are outside the file's " + std::to_string(available) +
                " bytes of data; the file is cut or damaged, fetch it again");
  }
  if (end - begin != wanted) {
    throw Error(tensor.title() + ": " + tensor.type + " " + shape_text(tensor.shape) + " needs " +
                std::to_string(wanted) + " bytes, the header gives it " + std::to_string(end - begin));
  }
  tensor.data = file.data() + data_begin + begin;
  tensor.bytes = wanted;
  return tensor;
}

// Sorted tensors must follow each other from the first byte of data to the last of the file.
void check_cover(const std::vector<SourceTensor>& tensors, const MappedFile& file, uint64_t data_begin) {
  const uint8_t* at = file.data() + data_begin;
  for (const SourceTensor& tensor : tensors) {
    if (tensor.bytes == 0) continue;
    if (tensor.data < at) throw Error(tensor.title() + " overlaps another tensor");
    if (tensor.data > at) {
      throw Error(tensor.title() + ": " + std::to_string(tensor.data - at) + " bytes before it belong to no tensor");
    }
    at += tensor.bytes;
  }
  const uint64_t rest = static_cast<uint64_t>(file.data() + file.size() - at);
  if (rest > 0) {
    throw Error(file.path().string() + ": " + std::to_string(rest) + " bytes at the end belong to no tensor");
  }
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  Safetensors result{MappedFile(path), {}};
  const MappedFile& file = result.file;
  const std::string where = path.string();
  if (file.size() < 8) {
    throw Error(where + ": too short for a safetensors file (" + std::to_string(file.size()) + " bytes)");
  }
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), 8);
  if (header_bytes > file.size() - 8 || header_bytes > kMaxHeaderBytes) {
    throw Error(where + ": the header claims " + std::to_string(header_bytes) + " bytes of a file of " +
                std::to_string(file.size()) + " (at most " + std::to_string(kMaxHeaderBytes) +
                "); the file is cut, damaged or not safetensors, fetch it again");
  }
  const Json header = parse_json(file.text().substr(8, header_bytes), where + ": header");
  if (!header.is_object()) throw Error(where + ": the header is " + shown(header) + ", not a JSON object");
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    result.tensors.push_back(read_entry(name, entry, file, 8 + header_bytes));
  }
  std::sort(result.tensors.begin(), result.tensors.end(), [](const SourceTensor& a, const SourceTensor& b) {
    return a.data != b.data ? a.data < b.data : a.bytes < b.bytes;
  });
  check_cover(result.tensors, file, 8 + header_bytes);
  return result;
}

}  // namespace heed::tools
