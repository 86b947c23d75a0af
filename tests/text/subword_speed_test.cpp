// How fast texts become subwords; not run unless asked for: test_text "[speed]". tools/golden/subwords.py --speed times the libraries.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdio>
#include <ctime>

#include "support/tokenizers.h"

namespace heed::test {
namespace {

TEST_CASE("Megabytes of text a second", "[.speed]") {
  const std::filesystem::path root(HEED_SOURCE_DIR);
  const std::vector<std::string> lines = read_lines(root / "tests/fidelity/texts.txt");
  uint64_t bytes = 0;
  for (const std::string& line : lines) bytes += line.size();
  for (const auto& [name, type] : {std::pair{"bytes", "gpt2"}, {"t5", "t5"}, {"sentence_bpe", "graph"}, {"unigram_words", "t5"}}) {
    schema::TokenizerT table;
    tools::build_tokenizer(root / "tests/golden/subwords" / name, type, table);
    const TextModel model(table);
    Tokens room(1 << 16);
    uint64_t tokens = 0;
    uint32_t rounds = 0;
    const std::clock_t start = std::clock();  // of this process, whatever else the machine does
    double seconds = 0;
    for (; seconds < 2; ++rounds) {
      for (const std::string& line : lines) {
        uint32_t count = 0;
        REQUIRE(heed_tokenize(&model.model(), line.data(), line.size(), 0, room.data(), 1 << 16, &count) == HEED_OK);
        tokens += count;
      }
      seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    }
    std::printf("%-14s heed          %7.2f MB/s, %6.2f million tokens a second\n", name, static_cast<double>(bytes) * rounds / seconds / 1e6,
                static_cast<double>(tokens) / seconds / 1e6);
  }
}

}  // namespace
}  // namespace heed::test
