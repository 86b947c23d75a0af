// Calibration of translators: what their matrices are given while they read texts and write outputs.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "convert/convert.h"
#include "convert/safetensors.h"
#include "error.h"
#include "support/converted.h"
#include "support/safetensors_file.h"
#include "support/tiny_vocabulary.h"

namespace heed::testing {
namespace {

namespace fs = std::filesystem;
using test::RawTensor;

const std::string kTexts = "I love you\nI see her.\nWe do not eat it.\nThe old man buys two apples for his sister.\nWhere is my brother?\n";

fs::path sample(const std::string& name) { return fs::path(HEED_SOURCE_DIR) / "tools/samples/translator" / name; }

struct Trial {
  explicit Trial(const fs::path& source) {
    options.source = source;
    options.output = folder.path() / "m.heed";
    options.calibrate = folder.path() / "texts";
    test::write_file(options.calibrate, kTexts);
  }
  tools::TemporaryFolder folder;
  tools::ConvertOptions options;
};

// One inner channel of the decoder's feed-forwards large on the way (relu keeps that) and as much smaller in its weights.
void unbalance(RawTensor& tensor, float factor) {
  const bool up = tensor.name.ends_with("feed_forward_in.weight") || tensor.name.ends_with("feed_forward_in.bias");
  const bool down = tensor.name.ends_with("feed_forward_out.weight");
  if (!tensor.name.starts_with("decoder.") || (!up && !down)) return;
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  const uint64_t cols = tensor.shape.size() > 1 ? tensor.shape[1] : 1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (up && i / cols == 3) values[i] *= factor;
    if (down && i % cols == 3) values[i] /= factor;
  }
  tensor.bytes = test::bytes_of(values);
}

void write_unbalanced(const fs::path& from, const fs::path& to, float factor) {
  fs::copy(from, to);
  fs::remove(to / "weights.safetensors");
  std::vector<RawTensor> tensors;
  for (const tools::SourceTensor& tensor : tools::read_safetensors(from / "weights.safetensors").tensors) {
    tensors.push_back(test::f32_tensor(tensor.name, tensor.shape, tools::to_f32(tensor)));
    unbalance(tensors.back(), factor);
  }
  test::write_file(to / "weights.safetensors", test::safetensors_bytes(tensors));
}

std::vector<float> logits_of(const AlignedBytes& file) {
  TestSession session(file, {.rows = 16, .tile_rows = 8, .isa = "ref"});
  std::vector<float> all;
  for (const std::vector<int32_t>& source : {std::vector<int32_t>{10, 200, 30}, {40, 500, 60, 700, 80, 9}, {901, 22, 43, 604, 75}}) {
    REQUIRE(heed_reset(&session.session) == HEED_OK);
    session.run({ids_input("tokens", source)}, 1, "encode");
    for (const int32_t id : {1, 100, 250, 31, 420}) {
      const Output y = session.run({ids_input("tokens", {id})}, 1, "decode");
      all.insert(all.end(), y.values.begin(), y.values.end());
    }
  }
  return all;
}

double decibels(const std::vector<float>& found, const std::vector<float>& wanted) {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    signal += double{wanted[i]} * wanted[i];
    noise += (double{found[i]} - wanted[i]) * (double{found[i]} - wanted[i]);
  }
  return 10 * std::log10(signal / noise);
}

AlignedBytes bytes_of(const fs::path& path) {
  const tools::MappedFile file(path);
  return AlignedBytes(file.data(), file.data() + file.size());
}

}  // namespace

TEST_CASE("calibration reaches every matrix of the four translators, in both graphs") {
  for (const char* name : {"additive", "dot", "qkv", "transformer"}) {
    INFO(name);
    Trial trial(sample(name));
    const tools::ConvertReport report = tools::convert(trial.options);
    CHECK(report.calibration_texts == 5);
    for (const auto& weight : test::read_tables(trial.options.output).weights) {
      INFO(weight->name);
      CHECK(weight->has_input_scale == (weight->layout == schema::Layout::panel16));
    }
  }
}

TEST_CASE("calibration evens out the layers of a translator's decoder") {
  Trial trial("");
  trial.options.source = trial.folder.path() / "unbalanced";
  write_unbalanced(sample("transformer"), trial.options.source, 1000);
  const std::vector<float> wanted = logits_of(converted(trial.options.source, "f32"));
  const double plain = decibels(logits_of(converted(trial.options.source, "q8c")), wanted);
  tools::convert(trial.options);
  const double calibrated = decibels(logits_of(bytes_of(trial.options.output)), wanted);
  INFO(plain << " dB, calibrated " << calibrated);
  CHECK(calibrated > plain + 6);
}

TEST_CASE("a text longer than a translator takes is named") {
  Trial trial(sample("additive"));
  std::string line;
  for (int i = 0; i < 5000; ++i) line += "I ";
  test::write_file(trial.options.calibrate, "I love you\n" + line + "\n");
  CHECK_THROWS_WITH(tools::convert(trial.options), Catch::Matchers::Contains("text 2 has 5000 tokens"));
}

}  // namespace heed::testing
