// heed's subwords against those of the reference libraries, from the files of a checkpoint to text and back.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include "convert/tokenizer.h"
#include "support/tokenizers.h"
#include "text/units.h"
#include "text/utf8.h"

namespace heed::test {
namespace {

namespace fs = std::filesystem;

struct Case {
  const char* name;
  const char* model_type;
  bool all;  // of the texts
};

constexpr Case kCases[] = {{"bytes", "gpt2", true},         {"bytes_bart", "bart", false},  {"bytes_space", "gpt2", false},  {"t5", "t5", true},
                           {"sentence_bpe", "graph", false}, {"marian", "marian", false},    {"unigram_words", "t5", false}, {"unigram_runs", "t5", false},
                           {"unigram_once", "t5", false}};
constexpr const char* kSome[] = {"code", "emoji", "invalid", "spaces_controls", "words"};

fs::path folder() { return fs::path(HEED_SOURCE_DIR) / "tests/golden/subwords"; }

// The groups of texts in the order of their names, then those of this folder.
std::vector<std::string> texts(bool all) {
  std::vector<fs::path> groups;
  for (const auto& file : fs::directory_iterator(golden_folder())) {
    const std::string stem = file.path().stem().string();
    if (file.path().extension() != ".txt" || stem == "vocab" || stem.find('.') != std::string::npos) continue;
    if (all || std::find(std::begin(kSome), std::end(kSome), stem) != std::end(kSome)) groups.push_back(file.path());
  }
  std::sort(groups.begin(), groups.end());
  groups.push_back(folder() / "texts.txt");
  std::vector<std::string> result;
  for (const fs::path& group : groups) {
    for (const std::string& line : read_lines(group)) result.push_back(unescaped(line));
  }
  return result;
}

std::string ids_only(const std::string& tokens) {
  std::string ids;
  for (size_t i = 0; i < tokens.size(); i = std::min(tokens.find(' ', i), tokens.size() - 1) + 1) {
    const std::string token = tokens.substr(i, tokens.find(' ', i) - i);
    ids += (ids.empty() ? "" : " ") + token.substr(0, token.find(':'));
    if (tokens.find(' ', i) == std::string::npos) break;
  }
  return ids;
}

size_t longest_word(const std::string& text) {
  size_t longest = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != ' ') continue;
    longest = std::max(longest, i - begin);
    begin = i + 1;
  }
  return longest;
}

// Bytes that are not UTF-8 as the libraries show them.
std::string valid(const std::string& text) {
  std::string result;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t i = 0; i < text.size();) {
    const Utf8Character in = decode_utf8(bytes + i, text.size() - i);
    uint8_t spelled[4];
    result.append(reinterpret_cast<const char*>(spelled), encode_utf8(in.code_point, spelled));
    i += in.bytes;
  }
  return result;
}

std::string joined(const TextModel& model, const Tokens& tokens) {
  std::vector<uint32_t> ids;
  for (const heed_token& token : tokens) ids.push_back(token.id);
  const heed_ids list{ids.data(), static_cast<uint32_t>(ids.size()), nullptr};
  uint64_t bytes = 0;
  const heed_status status = heed_detokenize(&model.model(), &list, nullptr, 0, &bytes);
  REQUIRE(status == (bytes > 0 ? HEED_BUFFER_TOO_SMALL : HEED_OK));
  std::string text(bytes, '#');
  REQUIRE(heed_detokenize(&model.model(), &list, text.data(), bytes, &bytes) == HEED_OK);
  return text;
}

TEST_CASE("TOK-12 TOK-13 Subwords in many scripts are those of the reference libraries") {
  const Case one = kCases[GENERATE(range(0, static_cast<int>(std::size(kCases))))];
  schema::TokenizerT table;
  tools::build_tokenizer(folder() / one.name, one.model_type, table);
  const TextModel model(table);
  const std::vector<std::string> all = texts(one.all);
  const std::vector<std::string> wanted = read_lines(folder() / (std::string(one.name) + ".ids"));
  REQUIRE(all.size() == wanted.size());
  CHECK(all.size() >= (one.all ? 500 : 200));
  for (size_t i = 0; i < all.size(); ++i) {
    INFO(one.name << " text " << i + 1 << ": " << all[i].substr(0, 200));
    const Tokens tokens = tokenize(model, all[i]);
    const bool spans = wanted[i].find(':') != std::string::npos;
    if (table.kind == schema::TokenizerKind::unigram && longest_word(all[i]) > (table.whole_text ? kWindow : kWindow / 2)) {
      // The best way through a word that repeats itself depends on how long it is, which a window does not show; and of ways with equal
      // sums the `tokenizers` library takes one or the other by the last digit that it read of a score.
      const size_t best = static_cast<size_t>(std::count(wanted[i].begin(), wanted[i].end(), ' ')) + 1;
      CHECK(tokens.size() >= best);
      CHECK(tokens.size() <= best + all[i].size() / kWindow);
    } else {
      CHECK((spans ? shown(tokens) : ids_only(shown(tokens))) == wanted[i]);
    }
    uint32_t last = 0;
    for (const heed_token& token : tokens) {
      CHECK((token.begin >= last && token.begin <= token.end && token.end <= all[i].size()));
      last = token.begin;
    }
  }
}

TEST_CASE("Subwords become the text that the reference libraries make of them") {
  const Case one = kCases[GENERATE(range(0, static_cast<int>(std::size(kCases))))];
  schema::TokenizerT table;
  tools::build_tokenizer(folder() / one.name, one.model_type, table);
  const TextModel model(table);
  const std::vector<std::string> all = texts(one.all);
  const bool bytes = table.split == schema::SplitKind::gpt2;
  std::vector<std::string> wanted = all;
  if (!bytes) wanted = read_lines(folder() / (std::string(one.name) + ".decoded"));
  REQUIRE(all.size() == wanted.size());
  for (size_t i = 0; i < all.size(); ++i) {
    INFO(one.name << " text " << i + 1 << ": " << all[i].substr(0, 200));
    std::string text = bytes ? valid(all[i]) : unescaped(wanted[i]);
    // Where a space is put before a text, nobody can tell it from the text's own.
    if (bytes && table.prefix_space != schema::PrefixSpace::none && text.substr(0, 1) == " ") text.erase(0, 1);
    CHECK(valid(joined(model, tokenize(model, all[i]))) == text);
  }
}

}  // namespace
}  // namespace heed::test
