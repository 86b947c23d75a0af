// UTF-8, one character at a time, for bytes that may be wrong.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace heed {

inline constexpr uint32_t kReplacementCharacter = 0xFFFD;

struct Utf8Character {
  uint32_t code_point;
  uint32_t bytes;  // at least 1
};

// The character at `text`, of which `bytes` (at least 1) are left. What is not UTF-8 counts as U+FFFD, one for each
// maximal part of a character: as long as the bytes still begin some character, they are one error together. So say
// the Unicode standard and Python's `bytes.decode(errors="replace")`. Surrogates and overlong forms are errors.
inline Utf8Character decode_utf8(const uint8_t* text, uint64_t bytes) {
  const uint8_t lead = text[0];
  if (lead < 0x80) return {lead, 1};
  uint8_t low = 0x80;  // bounds of the next byte; only the second byte has narrower ones
  uint8_t high = 0xBF;
  uint32_t length = 2;
  uint32_t code_point = lead & 0x1Fu;
  if (lead >= 0xF0) {
    length = 4;
    code_point = lead & 0x07u;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else if (lead >= 0xE0) {
    length = 3;
    code_point = lead & 0x0Fu;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  }
  if (lead < 0xC2 || lead > 0xF4) return {kReplacementCharacter, 1};
  for (uint32_t i = 1; i < length; ++i) {
    if (i >= bytes || text[i] < low || text[i] > high) return {kReplacementCharacter, i};
    code_point = code_point << 6 | (text[i] & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, length};
}

// Writes 1 to 4 bytes and says how many. Above U+10FFFF only the low 21 bits count.
inline uint32_t encode_utf8(uint32_t code_point, uint8_t* out) {
  const auto tail = [code_point](uint32_t shift) {
    return static_cast<uint8_t>(0x80u | (code_point >> shift & 0x3Fu));
  };
  if (code_point < 0x80) {
    out[0] = static_cast<uint8_t>(code_point);
    return 1;
  }
  if (code_point < 0x800) {
    out[0] = static_cast<uint8_t>(0xC0u | code_point >> 6);
    out[1] = tail(0);
    return 2;
  }
  if (code_point < 0x10000) {
    out[0] = static_cast<uint8_t>(0xE0u | code_point >> 12);
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<uint8_t>(0xF0u | (code_point >> 18 & 0x07u));
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

}  // namespace heed
