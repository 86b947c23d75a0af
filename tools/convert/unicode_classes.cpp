// The classes of code points that GPT-2's pattern tells apart, from ICU's data.
// SPDX-License-Identifier: Apache-2.0
#include <unicode/uchar.h>

#include "convert/unicode.h"
#include "text/gpt2_words.h"
#include "text/white_space.h"

namespace heed::tools {
namespace {

constexpr uint32_t kCodePoints = 0x110000;
constexpr uint32_t kDirect = 0x180;  // Latin letters, which most texts are made of

CharacterClass class_of(uint32_t c) {
  const uint32_t category = U_MASK(u_charType(static_cast<UChar32>(c)));
  if (is_white_space(c)) return CharacterClass::space;
  if (category & U_GC_L_MASK) return CharacterClass::letter;
  return category & U_GC_N_MASK ? CharacterClass::number : CharacterClass::other;
}

}  // namespace

void build_gpt2_classes(schema::TokenizerT& out) {
  out.entries = {0, 1, 2, 3};
  out.direct.clear();
  out.runs.clear();
  CharacterClass last = CharacterClass::letter;
  for (uint32_t c = 0; c < kCodePoints; ++c) {
    const CharacterClass kind = class_of(c);
    if (c < kDirect) {
      out.direct.push_back(static_cast<uint16_t>(kind));
    } else if (c == kDirect || kind != last) {
      out.runs.push_back(c << kRunEntryBits | static_cast<uint32_t>(kind));
    }
    last = kind;
  }
}

}  // namespace heed::tools
