// Files of every format version open, and give the tokens and the bits that they gave when they were written.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "support/test_session.h"

namespace heed::testing {
namespace {

namespace fs = std::filesystem;

struct Golden {
  std::string precision, tokens, digest, text;
};

std::vector<Golden> read_digests(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  REQUIRE(line == "precision,tokens,digest,text");
  std::vector<Golden> all;
  while (std::getline(file, line)) {
    Golden one;
    std::istringstream fields(line);
    for (std::string* field : {&one.precision, &one.tokens, &one.digest}) std::getline(fields, *field, ',');
    std::getline(fields, one.text);
    all.push_back(one);
  }
  return all;
}

AlignedBytes read_model(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return AlignedBytes(bytes.begin(), bytes.end());
}

std::vector<int32_t> tokens_of(const heed_model& model, const std::string& text) {
  std::vector<heed_token> tokens(64);
  uint32_t count = 0;
  REQUIRE(heed_tokenize(&model, text.data(), text.size(), 0, tokens.data(), 64, &count) == HEED_OK);
  std::vector<int32_t> ids;
  for (uint32_t i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(tokens[i].id));
  return ids;
}

std::string spelled(const std::vector<int32_t>& ids) {
  std::string line;
  for (const int32_t id : ids) line += (line.empty() ? "" : " ") + std::to_string(id);
  return line;
}

std::string digest_of(const Output& output) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(XXH64(output.values.data(), output.values.size() * sizeof(float), 0)));
  return text;
}

}  // namespace

TEST_CASE("Files of every format version give the bits that they always gave") {
  const fs::path all_versions = fs::path(HEED_SOURCE_DIR) / "tests/golden";
  for (uint32_t version = 1; version == 1 || fs::exists(all_versions / ("v" + std::to_string(version))); ++version) {
    const fs::path folder = all_versions / ("v" + std::to_string(version));
    const AlignedBytes file = read_model(folder / "tiny.heed");
    const std::vector<Golden> all = read_digests(folder / "digests.csv");
    REQUIRE(all.size() >= 4);
    for (const std::string& isa : runnable_isas()) {
      for (const Golden& golden : all) {
        TestSession session(file, {.precision = golden.precision == "f32" ? HEED_PRECISION_F32 : HEED_PRECISION_INT8, .isa = isa.c_str()});
        INFO(folder << ", " << isa << ", " << golden.precision << ": '" << golden.text << "'");
        const std::vector<int32_t> ids = tokens_of(session.model, golden.text);
        CHECK(spelled(ids) == golden.tokens);
        CHECK(digest_of(session.run({ids_input("tokens", ids)})) == golden.digest);
      }
    }
  }
}

}  // namespace heed::testing
