// Tables that a checkpoint's configuration calls one: where their tensors lie makes no difference, and a contradiction is an error.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "convert/json.h"
#include "error.h"
#include "support/converted.h"
#include "support/safetensors_file.h"

namespace heed::testing {
namespace {

namespace fs = std::filesystem;
using Tensors = std::map<std::string, test::RawTensor>;

fs::path golden(const std::string& name) { return fs::path(HEED_SOURCE_DIR) / "tests/golden/encoder_decoders" / name; }

Tensors tensors_of(const fs::path& path) {
  const std::string bytes = test::read_file(path);
  uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  Tensors tensors;
  const tools::Json header = tools::Json::parse(bytes.substr(8, size));
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const uint64_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    tensors[name] = {name, entry["dtype"], entry["shape"], bytes.substr(8 + size + begin, end - begin)};
  }
  return tensors;
}

// The folder `name` with these tensors in the place of its own.
AlignedBytes with(const std::string& name, const Tensors& tensors) {
  const tools::TemporaryFolder folder;
  fs::copy_file(golden(name) / "config.json", folder.path() / "config.json");
  std::vector<test::RawTensor> list;
  for (const auto& [key, tensor] : tensors) list.push_back(tensor);
  test::write_file(folder.path() / "model.safetensors", test::safetensors_bytes(list));
  return converted(folder.path(), "q8c");
}

test::RawTensor named(test::RawTensor tensor, const std::string& name) {
  tensor.name = name;
  return tensor;
}

struct Family {
  const char* folder;
  const char* shared;
  const char* apart;  // another name of the same table
};
const Family kFamilies[] = {{"t5", "shared.weight", "encoder.embed_tokens.weight"}, {"marian", "model.shared.weight", "model.decoder.embed_tokens.weight"}};

// What a converted file is to be, and a checkpoint whose shared table is there under the output's name, too.
struct Twice {
  AlignedBytes usual;
  Tensors tensors;
};
Twice named_twice(const Family& family) {
  Tensors tensors = tensors_of(golden(family.folder) / "model.safetensors");
  AlignedBytes usual = with(family.folder, tensors);
  tensors["lm_head.weight"] = named(tensors.at(family.shared), "lm_head.weight");
  return {std::move(usual), std::move(tensors)};
}

}  // namespace

TEST_CASE("CONV-02 a tied table that is there twice is stored once, and two that differ are an error") {
  for (const Family& family : kFamilies) {
    INFO(family.folder);
    auto [usual, tensors] = named_twice(family);
    tensors[family.apart] = named(tensors.at(family.shared), family.apart);
    CHECK(with(family.folder, tensors).size() == usual.size());
    tensors["lm_head.weight"].bytes[5] ^= 1;
    CHECK_THROWS_WITH(with(family.folder, tensors), Catch::Contains("lm_head.weight") && Catch::Contains("differs") && Catch::Contains(family.shared));
  }
}

TEST_CASE("CONV-03 tables said to be apart, of which one is missing, are an error that names it") {
  const tools::TemporaryFolder folder;
  tools::Json config = tools::Json::parse(test::read_file(golden("t5") / "config.json"));
  config["tie_word_embeddings"] = false;
  test::write_file(folder.path() / "config.json", config.dump());
  fs::copy_file(golden("t5") / "model.safetensors", folder.path() / "model.safetensors");
  CHECK_THROWS_WITH(converted(folder.path(), "q8c"), Catch::Contains("'lm_head.weight'") && Catch::Contains("missing"));
}

TEST_CASE("CONV-04 a tied table that is there as the output's only makes the same model") {
  for (const Family& family : kFamilies) {
    INFO(family.folder);
    auto [usual, tensors] = named_twice(family);
    tensors.erase(family.shared);
    const AlignedBytes file = with(family.folder, tensors);
    REQUIRE(file.size() == usual.size());
    // Their reports may name tensors; the weights behind them are the same.
    CHECK(std::equal(file.end() - file.size() / 2, file.end(), usual.end() - usual.size() / 2));
  }
}

}  // namespace heed::testing
