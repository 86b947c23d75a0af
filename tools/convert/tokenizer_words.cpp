// The tables of a word tokenizer: its vocabulary, and a normalizer for spaces, punctuation, apostrophes and capitals.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "convert/tokenizer.h"
#include "error.h"
#include "text/normalizer.h"

namespace heed::tools {
namespace {

constexpr uint32_t kDirect = 128;
constexpr uint32_t kTypographicApostrophe = 0x2019;
constexpr std::string_view kPunctuation = ".,!?;:";

// Unicode's white space, and the four separators of ASCII.
bool is_space(uint32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

uint32_t entry_of(uint32_t c, bool lower) {
  if (is_space(c)) return pack_entry(CharacterKind::space, CharacterForm::itself, 0);
  if (c < kDirect && kPunctuation.find(static_cast<char>(c)) != std::string_view::npos) {
    return pack_entry(CharacterKind::alone, CharacterForm::itself, 0);
  }
  if (lower && c >= 'A' && c <= 'Z') return pack_entry(CharacterKind::letter, CharacterForm::shifted, 'a' - 'A');
  if (c == kTypographicApostrophe) {
    return pack_entry(CharacterKind::letter, CharacterForm::shifted, '\'' - static_cast<int32_t>(kTypographicApostrophe));
  }
  return pack_entry(CharacterKind::letter, CharacterForm::itself, 0);
}

void build_tables(bool lower, schema::TokenizerT& out) {
  std::map<uint32_t, uint32_t> places;  // of each entry
  const auto place = [&](uint32_t c) {
    const uint32_t entry = entry_of(c, lower);
    const auto [known, fresh] = places.emplace(entry, static_cast<uint32_t>(out.entries.size()));
    if (fresh) out.entries.push_back(entry);
    return known->second;
  };
  for (uint32_t c = 0; c < kDirect; ++c) out.direct.push_back(static_cast<uint16_t>(place(c)));
  uint32_t last = kMaxEntries;
  for (uint32_t c = kDirect; c <= 0x3001; ++c) {  // beyond, all are letters
    const uint32_t at = place(c);
    if (at != last) out.runs.push_back(c << kRunEntryBits | at);
    last = at;
  }
}

}  // namespace

void build_words(const std::filesystem::path& file, schema::TokenizerT& out) {
  std::vector<std::string> pieces = read_lines(file);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // what some editors put before a text
  if (!pieces.empty() && pieces[0].rfind(kByteOrderMark, 0) == 0) pieces[0].erase(0, kByteOrderMark.size());
  const std::string where = file.string();
  std::set<uint32_t> hidden(out.prefix.begin(), out.prefix.end());
  hidden.insert(out.suffix.begin(), out.suffix.end());
  hidden.insert(out.unknown);
  if (*hidden.rbegin() >= pieces.size()) {
    throw Error(where + ": has " + std::to_string(pieces.size()) + " pieces, but a special one is " + std::to_string(*hidden.rbegin()));
  }
  std::map<std::string, size_t> lines;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto [first, fresh] = lines.emplace(pieces[i], i + 1);
    if (pieces[i].empty()) throw Error(where + ": line " + std::to_string(i + 1) + " is empty; each has a piece");
    if (!fresh) throw Error(where + ": line " + std::to_string(i + 1) + " repeats line " + std::to_string(first->second) + ", '" + pieces[i] + "'");
  }
  build_vocabulary(where, pieces, hidden, out);
  const auto has_capital = [](const std::string& piece) {
    return std::any_of(piece.begin(), piece.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  };
  build_tables(std::none_of(pieces.begin(), pieces.end(), has_capital), out);
}

}  // namespace heed::tools
