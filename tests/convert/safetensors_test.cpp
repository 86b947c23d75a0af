// Hostile and odd safetensors files.
// SPDX-License-Identifier: Apache-2.0
#include "convert/safetensors.h"

#include <catch2/catch.hpp>

#include "support/temporary_folder.h"
#include "convert/checkpoint.h"
#include "error.h"
#include "support/safetensors_file.h"

using namespace heed;
using namespace heed::tools;
using namespace heed::test;
using Catch::Matchers::Contains;

namespace {

struct Folder {
  TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "model.safetensors";

  Safetensors read(const std::string& bytes) {
    write_file(path, bytes);
    return read_safetensors(path);
  }
};

std::string entry(const std::string& name, const std::string& shape, uint64_t begin, uint64_t end,
                  const std::string& type = "F32") {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

}  // namespace

TEST_CASE("ST-01: a lying header length is refused before anything is allocated") {
  Folder f;
  const std::string good = safetensors_bytes("{" + entry("w", "[1]", 0, 4) + "}", "abcd");
  CHECK(f.read(good).tensors.size() == 1);
  for (const uint64_t length :
       {~uint64_t{0}, ~uint64_t{7}, uint64_t{1} << 40, uint64_t{good.size()}, uint64_t{good.size() - 7}}) {
    CHECK_THROWS_WITH(f.read(bytes_of(std::vector<uint64_t>{length}) + good.substr(8)),
                      Contains(std::to_string(length)));
  }
  for (size_t size = 0; size < 8; ++size) CHECK_THROWS_WITH(f.read(good.substr(0, size)), Contains("too short"));
}

TEST_CASE("ST-04: overlaps, holes and bytes that belong to nobody are refused") {
  Folder f;
  const auto read = [&](const std::string& entries, size_t bytes) {
    return f.read(safetensors_bytes("{" + entries + "}", std::string(bytes, 'x')));
  };
  CHECK_THROWS_WITH(read(entry("a", "[4]", 0, 16) + "," + entry("b", "[4]", 8, 24), 24), Contains("'b' overlaps"));
  CHECK_THROWS_WITH(read(entry("a", "[2]", 0, 8) + "," + entry("b", "[2]", 16, 24), 24),
                    Contains("'b'") && Contains("8 bytes before it"));
  CHECK_THROWS_WITH(read(entry("a", "[2]", 0, 8), 12), Contains("4 bytes at the end"));
  CHECK_THROWS_WITH(read(entry("a", "[2]", 4, 12), 12), Contains("4 bytes before it"));
  const Safetensors unordered = read(entry("a", "[2]", 8, 16) + "," + entry("b", "[2]", 0, 8), 16);
  REQUIRE(unordered.tensors.size() == 2);
  CHECK(unordered.tensors[0].name == "b");
}

TEST_CASE("ST-05: duplicate names are refused as duplicates") {
  Folder f;
  CHECK_THROWS_WITH(
      f.read(safetensors_bytes("{" + entry("w", "[1]", 0, 4) + "," + entry("w", "[1]", 4, 8) + "}", "abcdefgh")),
      Contains("duplicate") && Contains("\"w\""));
  CHECK_THROWS_WITH(f.read(safetensors_bytes("{\"__metadata__\":{},\"__metadata__\":{}}", "")), Contains("duplicate"));
}

TEST_CASE("ST-06: a header that is no object of objects is refused, in bounded depth") {
  Folder f;
  for (const char* header :
       {"[]", "3", "null", "{\"w\":5}", "{\"w\":{}}", "{\"w\":[1,2]}", "{", "", "{\"a\":1}x", "\xff",
        "{\"\\ud800\":{}}", "{\"w\":{\"dtype\":\"F32\",\"shape\":{},\"data_offsets\":[0,0]}}",
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,0]}}",
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,0]}}",
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0]}}",
        "{\"w\":{\"dtype\":\"Q7\",\"shape\":[0],\"data_offsets\":[0,0]}}"}) {
    INFO(header);
    CHECK_THROWS_AS(f.read(safetensors_bytes(std::string(header), "")), Error);
  }
  CHECK_THROWS_WITH(f.read(safetensors_bytes("{" + entry("a\\u0000b", "[1]", 0, 4) + "}", "abcd")),
                    Contains("zero byte"));
  CHECK_THROWS_WITH(f.read(safetensors_bytes(std::string(100000, '['), "")), Contains("nested deeper"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK_THROWS_WITH(f.read(safetensors_bytes(objects, "")), Contains("nested deeper"));
}

TEST_CASE("a shape that contradicts its bytes, or overflows 64 bits, is refused") {
  Folder f;
  const auto read = [&](const std::string& one) { return f.read(safetensors_bytes("{" + one + "}", "abcdefgh")); };
  CHECK_THROWS_WITH(read(entry("w", "[3]", 0, 8)), Contains("needs 12 bytes") && Contains("gives it 8"));
  CHECK_THROWS_WITH(read(entry("w", "[4294967296,4294967296]", 0, 8)), Contains("overflows"));
  CHECK_THROWS_WITH(read(entry("w", "[4611686018427387904]", 0, 8)), Contains("overflows"));
  CHECK_THROWS_WITH(read(entry("w", "[2]", 8, 0)), Contains("outside"));
  CHECK_THROWS_WITH(read(entry("w", "[2]", 0, 9)), Contains("outside"));
  CHECK_THROWS_WITH(read(entry("w", "[2]", ~uint64_t{7}, ~uint64_t{0})), Contains("outside"));
}

TEST_CASE("CONV-07: data starts right behind the header, however long that is") {
  Folder f;
  for (size_t padding = 0; padding < 8; ++padding) {
    const std::string header = "{" + entry("w", "[2]", 0, 8) + "}" + std::string(padding, ' ');
    const Safetensors file = f.read(safetensors_bytes(header, bytes_of(std::vector<float>{1.5f, -2.0f})));
    CHECK(to_f32(file.tensors.at(0)) == std::vector<float>{1.5f, -2.0f});
  }
}

TEST_CASE("CONV-09: empty tensors and scalars are read") {
  Folder f;
  const Safetensors file = f.read(safetensors_bytes(
      "{" + entry("a", "[0]", 0, 0) + "," + entry("b", "[3,0]", 0, 0) + "," + entry("c", "[]", 0, 4) + "}",
      bytes_of(std::vector<float>{7})));
  REQUIRE(file.tensors.size() == 3);
  for (const SourceTensor& tensor : file.tensors) {
    CHECK(to_f32(tensor) == (tensor.name == "c" ? std::vector<float>{7} : std::vector<float>{}));
  }
}

TEST_CASE("CONV-11: a tensor at offset 0 is there, like the one at 32") {
  Folder f;
  std::vector<float> numbers(16);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const Safetensors file = f.read(safetensors_bytes("{" + entry("a", "[8]", 0, 32) + "," + entry("b", "[8]", 32, 64) + "}", bytes_of(numbers)));
  REQUIRE(file.tensors.size() == 2);
  for (const SourceTensor& tensor : file.tensors) CHECK(to_f32(tensor)[0] == (tensor.name == "a" ? 0.0f : 8.0f));
}

TEST_CASE("a file cut at any byte is refused") {
  Folder f;
  const std::string good = safetensors_bytes({f32_tensor("a", {2}, {1, 2}), f32_tensor("b", {1, 1}, {3})});
  CHECK(f.read(good).tensors.size() == 2);
  for (size_t size = 0; size < good.size(); ++size) {
    INFO(size);
    CHECK_THROWS_AS(f.read(good.substr(0, size)), Error);
  }
}

TEST_CASE("CONV-05: only the shards that the index names are read") {
  TemporaryFolder folder;
  write_file(folder.path() / "one.safetensors", safetensors_bytes({f32_tensor("a", {1}, {1})}));
  write_file(folder.path() / "two.safetensors", safetensors_bytes({f32_tensor("b", {1}, {2})}));
  write_file(folder.path() / "model.safetensors",
             safetensors_bytes({f32_tensor("a", {1}, {9}), f32_tensor("c", {1}, {9})}));
  write_file(folder.path() / "model.safetensors.index.json",
             R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  Checkpoint checkpoint = Checkpoint::open(folder.path());
  CHECK(to_f32(checkpoint.take("a")) == std::vector<float>{1});
  CHECK(to_f32(checkpoint.take("b")) == std::vector<float>{2});
  CHECK_FALSE(checkpoint.has("c"));
}

TEST_CASE("CONV-06: a missing or cut shard is named, and an index that contradicts its shards is refused") {
  TemporaryFolder folder;
  const std::filesystem::path index = folder.path() / "model.safetensors.index.json";
  const std::string shard = safetensors_bytes({f32_tensor("b", {1}, {2})});
  write_file(folder.path() / "one.safetensors", safetensors_bytes({f32_tensor("a", {1}, {1})}));
  write_file(index, R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  CHECK_THROWS_WITH(Checkpoint::open(folder.path()), Contains("two.safetensors") && Contains("missing"));
  write_file(folder.path() / "two.safetensors", shard.substr(0, shard.size() - 1));
  CHECK_THROWS_WITH(Checkpoint::open(folder.path()), Contains("two.safetensors") && Contains("cut"));
  write_file(folder.path() / "two.safetensors", shard);
  CHECK(Checkpoint::open(folder.path()).has("b"));
  write_file(index, R"({"weight_map":{"a":"two.safetensors","b":"one.safetensors"}})");
  CHECK_THROWS_WITH(Checkpoint::open(folder.path()), Contains("'a'") && Contains("where it is not"));
  write_file(index, R"({"weight_map":{"b":"two.safetensors","c":"one.safetensors"}})");
  CHECK_THROWS_WITH(Checkpoint::open(folder.path()), Contains("'c'"));
  for (const char* bad : {"{}", "[]", R"({"weight_map":{}})", R"({"weight_map":{"a":3}})", R"({"weight_map":[]})"}) {
    write_file(index, bad);
    CHECK_THROWS_AS(Checkpoint::open(folder.path()), Error);
  }
}

TEST_CASE("ST-07: shard names that leave the folder are refused, a Hugging Face cache is read") {
  TemporaryFolder folder;
  const std::filesystem::path home = folder.path() / "models--x" / "snapshots" / "abc";
  const std::string shard = safetensors_bytes({f32_tensor("a", {1}, {1})});
  write_file(folder.path() / "outside.safetensors", shard);
  write_file(home / "sub" / "in.safetensors", shard);
  write_file(folder.path() / "models--x" / "blobs" / "0123", shard);
  std::filesystem::create_symlink("../../blobs/0123", home / "cached.safetensors");
  std::filesystem::create_symlink("../../../outside.safetensors", home / "link.safetensors");
  const auto open = [&](const std::string& name) {
    write_file(home / "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"" + name + "\"}}");
    return Checkpoint::open(home);
  };
  for (const char* name :
       {"../../../outside.safetensors", "sub/../../../../outside.safetensors", "C:\\\\x", "a\\u0000b", "..", ""}) {
    INFO(name);
    CHECK_THROWS_AS(open(name), Error);
  }
  CHECK_THROWS_WITH(open((folder.path() / "outside.safetensors").string()), Contains("not inside"));
  CHECK_THROWS_WITH(open("link.safetensors"), Contains("link out of the folder"));
  CHECK(open("cached.safetensors").has("a"));
  CHECK(open("sub/in.safetensors").has("a"));
}

TEST_CASE("a folder with only a pickle is told why and how, by what its config.json says") {
  TemporaryFolder folder;
  const std::filesystem::path model = folder.path() / "model";
  const auto refusal = [&](const std::string& config, const std::string& stem = "model") {
    write_file(model / "config.json", config);
    try {
      Checkpoint::open(model, stem);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("opened");
  };
  CHECK_THAT(refusal("{}"), Contains("has no model.safetensors"));
  write_file(model / "pytorch_model.bin", "x");
  const auto check_saved = [&](const std::string& type, const std::string& name) {
    CHECK_THAT(refusal("{\"model_type\": \"" + type + "\"}"),
               Contains("pickle") && Contains("import " + name + ";") && Contains(name + ".from_pretrained(\"" + model.string() + "\")") &&
                   Contains(".save_pretrained(\"model-safetensors\", safe_serialization=True)") &&
                   Contains("copy model-safetensors/model.safetensors into " + model.string()));
  };
  check_saved("bert", "AutoModel");
  for (const std::string type : {"marian", "bart", "t5"}) check_saved(type, "AutoModelForSeq2SeqLM");
  // A layer of sentence-transformers and a graph folder are nothing that transformers could load.
  const auto check_tensors = [&](const std::string& config, const std::string& stem) {
    CHECK_THAT(refusal(config, stem), Contains("save_file(torch.load(\"" + (model / "pytorch_model.bin").string() + "\", weights_only=True), \"" +
                                               (model / stem).string() + ".safetensors\")") && !Contains("AutoModel"));
  };
  check_tensors(R"({"in_features": 32, "out_features": 3})", "model");
  check_tensors("[]", "weights");
}
