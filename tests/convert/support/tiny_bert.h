// A small random BERT or DistilBERT as a checkpoint folder, and what it computes, in double, from the formulas.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/safetensors_file.h"

namespace heed::test {

using Matrix = std::vector<std::vector<double>>;  // [rows][features]

struct TinyBert {
  uint32_t layers = 2, heads = 4, features = 32, hidden = 64, vocabulary = 40, positions = 24, segments = 2;
  bool distil = false;
  std::string prefix;     // "bert." where a head was on top
  double spread = 0.25;   // of the weights
  nlohmann::json config;  // what is written as config.json
  nlohmann::json pooling = {{"word_embedding_dimension", 32}, {"pooling_mode_mean_tokens", true}};
  std::vector<std::string> modules = {"Transformer", "Pooling", "Normalize"};  // empty: no modules.json
  std::map<std::string, RawTensor> tensors;

  explicit TinyBert(bool is_distil = false, uint32_t seed = 1, std::string name_prefix = "");

  std::vector<float> values(const std::string& name) const;  // of an F32 tensor, without the prefix
  void set(const std::string& name, std::vector<uint64_t> shape, const std::vector<float>& values);
  // Writes config.json, model.safetensors and sentence-transformers' files into `folder`.
  void write(const std::filesystem::path& folder) const;
  void write_modules(const std::filesystem::path& folder) const;

  // The last hidden rows of one sequence.
  Matrix hidden_rows(const std::vector<int32_t>& ids, const std::vector<int32_t>& segment_ids = {}) const;
  // Their mean, of length 1.
  std::vector<double> embedding(const std::vector<int32_t>& ids) const;

 private:
  Matrix linear(const Matrix& x, const std::string& name) const;
  Matrix norm(const Matrix& x, const std::string& name) const;
  Matrix attend(const Matrix& q, const Matrix& k, const Matrix& v) const;
};

double cosine(const std::vector<double>& a, const std::vector<float>& b);

}  // namespace heed::test
