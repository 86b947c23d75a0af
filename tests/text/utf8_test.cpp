// Decoding of UTF-8 that may be wrong.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "text/utf8.h"

namespace heed::test {
namespace {

struct Part {
  uint32_t code_point;
  uint32_t bytes;
  bool operator==(const Part& other) const { return code_point == other.code_point && bytes == other.bytes; }
};

std::vector<Part> parts(const std::string& text) {
  std::vector<Part> result;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t i = 0; i < text.size(); i += result.back().bytes) {
    const Utf8Character in = decode_utf8(bytes + i, text.size() - i);
    result.push_back({in.code_point, in.bytes});
  }
  return result;
}

TEST_CASE("Every code point is read back as it was written") {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    uint8_t text[4];
    const uint32_t bytes = encode_utf8(c, text);
    const Utf8Character in = decode_utf8(text, bytes);
    if (in.code_point != c || in.bytes != bytes) FAIL("code point " << c);
    for (uint32_t cut = 1; cut < bytes; ++cut) {  // a beginning of a character is one error
      const Utf8Character part = decode_utf8(text, cut);
      if (part.code_point != kReplacementCharacter || part.bytes != cut) FAIL("code point " << c << " cut at " << cut);
    }
  }
}

TEST_CASE("Wrong UTF-8 is U+FFFD for each maximal part of a character") {
  constexpr uint32_t kBad = kReplacementCharacter;
  // The example of the Unicode standard, chapter 3: U+FFFD substitution of maximal subparts.
  CHECK(parts("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64") ==
        std::vector<Part>{
            {'a', 1}, {kBad, 3}, {kBad, 2}, {kBad, 1}, {'b', 1}, {kBad, 1}, {'c', 1}, {kBad, 1}, {kBad, 1}, {'d', 1}});
  CHECK(parts("\xED\xA0\x80") == std::vector<Part>{{kBad, 1}, {kBad, 1}, {kBad, 1}});          // a surrogate
  CHECK(parts("\xC0\xAF\xE0\x80\xBF") == std::vector<Part>(5, {kBad, 1}));                     // overlong
  CHECK(parts("\xF4\x91\x92\x93\xFF") == std::vector<Part>(5, {kBad, 1}));                     // above U+10FFFF
  CHECK(parts("\xF0\x9F\x98") == std::vector<Part>{{kBad, 3}});
}

}  // namespace
}  // namespace heed::test
