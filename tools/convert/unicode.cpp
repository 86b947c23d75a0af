// What BERT's normalizer and word splitting do to each code point, from ICU's data, packed as runtime/text reads it.
// SPDX-License-Identifier: Apache-2.0
#include "convert/unicode.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/uversion.h>

#include <algorithm>
#include <map>
#include <vector>

#include "error.h"
#include "text/normalizer.h"
#include "text/utf8.h"

namespace heed::tools {
namespace {

static_assert(U_ICU_VERSION_MAJOR_NUM >= 72, "ICU 72 is the first with Unicode 15");

using CodePoints = std::vector<uint32_t>;

constexpr uint32_t kCodePoints = 0x110000;
constexpr uint32_t kDirect = 0x180;  // Latin letters, which most texts are made of
constexpr int kCategoryVersion = 8;
constexpr int kDecompositionVersion = 9;
constexpr int kLowerCaseVersion = 15;

bool is_surrogate(uint32_t c) { return c >= 0xD800 && c < 0xE000; }
bool is_hangul_syllable(uint32_t c) { return c >= 0xAC00 && c < 0xD7A4; }

bool exists_since(uint32_t c, int version) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] != 0 && age[0] <= version;
}

int8_t category(uint32_t c) {
  switch (c) {  // what a later version changed
    case 0x166D: case 0x111C9: return U_OTHER_PUNCTUATION;
    case 0x1734: return U_NON_SPACING_MARK;
    case 0x1885: case 0x1886: return U_OTHER_LETTER;
    case 0xA9BD: return U_COMBINING_SPACING_MARK;
    default: return exists_since(c, kCategoryVersion) ? u_charType(static_cast<UChar32>(c)) : int8_t{U_UNASSIGNED};
  }
}

bool is_accent(uint32_t c) { return category(c) == U_NON_SPACING_MARK; }

bool is_control(uint32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  const int8_t found = category(c);
  return found == U_CONTROL_CHAR || found == U_FORMAT_CHAR || found == U_PRIVATE_USE_CHAR;
}

bool is_punctuation(uint32_t c) {
  if (c < 0x80) return c > ' ' && c < 0x7F && !u_isalnum(static_cast<UChar32>(c));
  return (U_MASK(category(c)) & U_GC_P_MASK) != 0;
}

// The blocks that BERT calls Chinese.
bool is_chinese(uint32_t c) {
  constexpr struct { uint32_t first, last; } kBlocks[] = {
      {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
      {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return std::any_of(std::begin(kBlocks), std::end(kBlocks), [c](auto b) { return c >= b.first && c <= b.last; });
}

uint32_t combining_class(uint32_t c) {
  return exists_since(c, kDecompositionVersion) ? u_getCombiningClass(static_cast<UChar32>(c)) : 0;
}

CodePoints code_points(const UChar* text, int32_t units) {
  CodePoints result;
  for (int32_t i = 0; i < units;) {
    UChar32 c;
    U16_NEXT(text, i, units, c);
    result.push_back(static_cast<uint32_t>(c));
  }
  return result;
}

CodePoints decomposed(uint32_t c) {
  UErrorCode error = U_ZERO_ERROR;
  const UNormalizer2* nfd = unorm2_getNFDInstance(&error);
  UChar text[16];
  const int32_t units = unorm2_getDecomposition(nfd, static_cast<UChar32>(c), text, 16, &error);
  if (U_FAILURE(error)) throw Error(std::string("Unicode data of ICU: ") + u_errorName(error));
  if (units < 0 || !exists_since(c, kDecompositionVersion)) return {c};
  return code_points(text, units);
}

CodePoints lower_case(uint32_t c) {
  if (!u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_CHANGES_WHEN_LOWERCASED)) return {c};
  if (!exists_since(c, kLowerCaseVersion)) return {c};
  UErrorCode error = U_ZERO_ERROR;
  UChar text[2];
  int32_t units = 0;
  U16_APPEND_UNSAFE(text, units, c);
  UChar lower[16];
  const int32_t lower_units = u_strToLower(lower, 16, text, units, "", &error);
  if (U_FAILURE(error)) throw Error(std::string("Unicode data of ICU: ") + u_errorName(error));
  return code_points(lower, lower_units);
}

// What becomes of a code point, before it is packed.
struct Rule {
  CharacterKind kind = CharacterKind::letter;
  // What stands for it, with combining classes. Empty: itself, or nothing for spaces and what is removed.
  CodePoints characters;
  bool operator==(const Rule& other) const = default;
};

CodePoints normalized(uint32_t c, const NormalizerOptions& options) {
  CodePoints base = options.strip_accents ? decomposed(c) : CodePoints{c};
  if (options.strip_accents) base.erase(std::remove_if(base.begin(), base.end(), is_accent), base.end());
  if (!options.lowercase) return base;
  CodePoints lower;
  for (const uint32_t one : base) {
    for (const uint32_t small : lower_case(one)) lower.push_back(small);
  }
  return lower;
}

CharacterKind kind_of_word_character(uint32_t c) {
  if (u_isUWhiteSpace(static_cast<UChar32>(c))) return CharacterKind::space;
  return is_punctuation(c) ? CharacterKind::alone : CharacterKind::letter;
}

Rule rule_of(uint32_t c, const NormalizerOptions& options) {
  if (is_surrogate(c)) return {};  // never decoded
  const bool alone = options.handle_chinese_chars && is_chinese(c);
  if (!exists_since(c, kLowerCaseVersion)) return {alone ? CharacterKind::alone : CharacterKind::letter, {}};
  const bool unwanted = c == 0 || c == kReplacementCharacter || is_control(c);
  if (options.clean_text && unwanted) return {CharacterKind::removed, {}};
  Rule rule;
  rule.characters = normalized(c, options);
  if (rule.characters.empty()) return {CharacterKind::removed, {}};
  rule.kind = kind_of_word_character(rule.characters[0]);
  const bool same = std::all_of(rule.characters.begin(), rule.characters.end(),
                                [&](uint32_t one) { return kind_of_word_character(one) == rule.kind; });
  if (alone) rule.kind = CharacterKind::alone;
  // An entry has one kind, and what is alone is one character. No code point asks for more.
  if (!same || (rule.kind == CharacterKind::alone && rule.characters.size() != 1)) {
    throw Error("Unicode data of ICU: code point " + std::to_string(c) + " becomes more than one word");
  }
  if (rule.kind == CharacterKind::space) return {CharacterKind::space, {}};
  if (options.strip_accents) {  // marks are put in order for that only
    for (uint32_t& one : rule.characters) one = pack_character(one, combining_class(one));
  }
  if (rule.characters == CodePoints{c}) rule.characters.clear();
  return rule;
}

// Whether no piece can tell the code point from what stands for it. Syllables of Korean are all kept, or none: so they
// are one run.
bool makes_no_difference(uint32_t c, const Rule& rule, const std::set<uint32_t>& alphabet) {
  const auto known = [&](uint32_t one) { return alphabet.count(code_point_of(one)) != 0; };
  if (is_hangul_syllable(c)) {
    const auto none = [&](uint32_t first, uint32_t last) {
      const auto found = alphabet.lower_bound(first);
      return found == alphabet.end() || *found > last;
    };
    return none(0x1100, 0x11FF) && none(0xAC00, 0xD7A3);
  }
  return !known(c) && !std::all_of(rule.characters.begin(), rule.characters.end(), known);
}

// A single code point can be stored as a distance, which serves a whole alphabet of capitals, or as itself, which
// serves a letter with all its accents.
int32_t distance(uint32_t c, const Rule& rule) {
  return static_cast<int32_t>(rule.characters[0]) - static_cast<int32_t>(c);
}
bool is_single(const Rule& rule) { return rule.characters.size() == 1 && combining_class_of(rule.characters[0]) == 0; }

// Packs rules into entries, each kept once.
class Packer {
 public:
  Packer(const std::vector<Rule>& rules, schema::TokenizerT& out) : out_(out) {
    index_of(pack_entry(CharacterKind::letter, CharacterForm::itself, 0));
    for (uint32_t c = 0; c < rules.size(); ++c) {
      if (!is_single(rules[c])) continue;
      ++distances_[distance(c, rules[c])];
      ++targets_[rules[c].characters[0]];
    }
  }

  uint32_t index(uint32_t c, const Rule& rule) {
    using Form = CharacterForm;
    if (rule.characters.empty()) return index_of(pack_entry(rule.kind, Form::itself, 0));
    if (is_hangul_syllable(c)) return index_of(pack_entry(rule.kind, Form::hangul, 0));
    if (is_single(rule) && distances_[distance(c, rule)] >= targets_[rule.characters[0]]) {
      return index_of(pack_entry(rule.kind, Form::shifted, distance(c, rule)));
    }
    return index_of(pack_entry(rule.kind, Form::sequence, place_of(rule.characters)));
  }

 private:
  uint32_t index_of(uint32_t entry) {
    const auto [found, is_new] = entries_.emplace(entry, static_cast<uint32_t>(out_.entries.size()));
    if (is_new) out_.entries.push_back(entry);
    if (out_.entries.size() > kMaxEntries) throw Error("the normalizer has too many entries for the file format");
    return found->second;
  }

  int32_t place_of(const CodePoints& characters) {
    const auto [found, is_new] = places_.emplace(characters, static_cast<int32_t>(out_.replacements.size()));
    if (is_new) {
      out_.replacements.push_back(static_cast<uint32_t>(characters.size()));
      out_.replacements.insert(out_.replacements.end(), characters.begin(), characters.end());
    }
    return found->second;
  }

  schema::TokenizerT& out_;
  std::map<int32_t, uint32_t> distances_;  // how many code points would use each
  std::map<uint32_t, uint32_t> targets_;
  std::map<uint32_t, uint32_t> entries_;
  std::map<CodePoints, int32_t> places_;
};

}  // namespace

void build_normalizer(const NormalizerOptions& options, const std::set<uint32_t>* alphabet, schema::TokenizerT& out) {
  out.direct.clear();
  out.runs.clear();
  out.entries.clear();
  out.replacements.clear();
  std::vector<Rule> rules(kCodePoints);
  for (uint32_t c = 0; c < kCodePoints; ++c) {
    rules[c] = rule_of(c, options);
    const bool changed = !rules[c].characters.empty();
    if (changed && alphabet && makes_no_difference(c, rules[c], *alphabet)) rules[c].characters.clear();
  }
  Packer packer(rules, out);
  uint32_t last = 0;
  for (uint32_t c = 0; c < kCodePoints; ++c) {
    const bool as_before = c > 0 && rules[c] == rules[c - 1] && rules[c].characters.empty();
    const uint32_t index = as_before ? last : packer.index(c, rules[c]);
    if (c < kDirect) {
      out.direct.push_back(static_cast<uint16_t>(index));
    } else if (c == kDirect || index != last) {
      out.runs.push_back(c << kRunEntryBits | index);
    }
    last = index;
  }
}

}  // namespace heed::tools
