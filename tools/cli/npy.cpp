// SPDX-License-Identifier: Apache-2.0
#include "cli/npy.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "error.h"

namespace heed::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxElements = uint64_t{1} << 40;

struct Header {
  std::string type;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

// The header is a Python dictionary literal of three known keys; nothing else is accepted.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Header parse() {
    Header header;
    bool seen[3] = {};
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      const int index = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (index < 0 || seen[index]) fail("has the key '" + key + "' where descr, fortran_order and shape belong once each");
      seen[index] = true;
      if (index == 0) header.type = quoted();
      if (index == 1) header.fortran_order = boolean();
      if (index == 2) header.shape = tuple();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (!seen[0] || !seen[1] || !seen[2]) fail("lacks one of descr, fortran_order and shape");
    skip_space();
    if (at_ != text_.size()) fail("goes on after its closing brace");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(path_ + ": the .npy header " + what); }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("lacks '") + c + "' at byte " + std::to_string(at_));
  }
  std::string quoted() {
    expect('\'');
    const size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail("has a string without an end");
    const std::string inside(text_.substr(at_, end - at_));
    at_ = end + 1;
    return inside;
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("says neither True nor False for fortran_order");
  }
  std::vector<uint64_t> tuple() {
    std::vector<uint64_t> sizes;
    expect('(');
    while (!take(')')) {
      skip_space();
      uint64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc()) fail("has a size that is not a number");
      at_ = static_cast<size_t>(end - text_.data());
      sizes.push_back(size);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

template <class Stored, class Held>
std::vector<Held> convert(const uint8_t* bytes, uint64_t count, const std::string& path) {
  std::vector<Held> held(count);
  for (uint64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, bytes + i * sizeof(Stored), sizeof(Stored));
    held[i] = static_cast<Held>(value);
    bool fits = true;
    if constexpr (std::numeric_limits<Stored>::is_integer) {
      fits = static_cast<Stored>(held[i]) == value;
    } else {
      fits = std::isfinite(held[i]) == std::isfinite(value);
    }
    if (!fits) throw Error(path + ": element " + std::to_string(i) + " does not fit 32 bits");
  }
  return held;
}

uint64_t element_count(const Header& header, const std::string& path) {
  uint64_t count = 1;
  for (const uint64_t size : header.shape) {
    if (size != 0 && count > kMaxElements / size) throw Error(path + ": the shape " + shape_text(header.shape) + " is too large");
    count *= size;
  }
  return count;
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string name = path.string();
  const std::string_view text = file.text();
  if (text.size() < 12 || text.substr(0, 6) != kMagic) throw Error(name + ": is not a .npy file");
  const uint8_t* bytes = file.data();
  const bool long_header = bytes[6] >= 2;
  if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
    throw Error(name + ": is of .npy version " + std::to_string(bytes[6]) + "." + std::to_string(bytes[7]) + "; 1.0 to 3.0 are read");
  }
  uint64_t header_bytes = bytes[8] | uint64_t{bytes[9]} << 8;
  if (long_header) header_bytes |= uint64_t{bytes[10]} << 16 | uint64_t{bytes[11]} << 24;
  const uint64_t header_begin = long_header ? 12 : 10;
  if (header_bytes > text.size() - header_begin) throw Error(name + ": ends inside its header");

  const Header header = HeaderParser(text.substr(header_begin, header_bytes), name).parse();
  if (header.fortran_order) throw Error(name + ": is in Fortran order; save numpy.ascontiguousarray(array) instead");
  const uint64_t element_bytes = header.type == "<f4" || header.type == "<i4" ? 4 : header.type == "<f8" || header.type == "<i8" ? 8 : 0;
  if (element_bytes == 0) throw Error(name + ": has elements of type '" + header.type + "'; <f4, <f8, <i4 and <i8 are read");
  const uint64_t count = element_count(header, name);
  const uint64_t data_begin = header_begin + header_bytes;
  if (text.size() - data_begin != count * element_bytes) {
    throw Error(name + ": has " + std::to_string(text.size() - data_begin) + " bytes of data, its shape " + shape_text(header.shape) +
                " asks for " + std::to_string(count * element_bytes));
  }

  NpyArray array;
  array.shape = header.shape;
  array.is_integer = header.type[1] == 'i';
  const uint8_t* data = bytes + data_begin;
  if (header.type == "<f4") array.floats = convert<float, float>(data, count, name);
  if (header.type == "<f8") array.floats = convert<double, float>(data, count, name);
  if (header.type == "<i4") array.integers = convert<int32_t, int32_t>(data, count, name);
  if (header.type == "<i8") array.integers = convert<int64_t, int32_t>(data, count, name);
  return array;
}

void write_npy(AtomicFile& file, const std::vector<uint64_t>& shape, const std::vector<float>& data) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (const uint64_t size : shape) header += std::to_string(size) + ",";
  header += "), }";
  // The data begins at a multiple of 64.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  const uint8_t lead[4] = {1, 0, static_cast<uint8_t>(header.size() & 255), static_cast<uint8_t>(header.size() >> 8)};
  file.write(kMagic.data(), kMagic.size());
  file.write(lead, sizeof(lead));
  file.write(header.data(), header.size());
  file.write(data.data(), data.size() * sizeof(float));
}

}  // namespace heed::tools
