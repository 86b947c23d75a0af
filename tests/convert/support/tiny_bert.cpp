// Random weights from a seed, and the encoder's formulas.
// SPDX-License-Identifier: Apache-2.0
#include "convert/support/tiny_bert.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace heed::test {
namespace {

// Uniform with mean `center` and standard deviation `spread`, the same on every machine.
std::vector<float> random_values(std::mt19937& engine, uint64_t count, double center, double spread) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(center + spread * std::sqrt(3.0) * (engine() / 2147483648.0 - 1));
  }
  return values;
}

struct Names {
  std::string block, query, key, value, output, norm1, up, down, norm2;
};

Names names_of(bool distil) {
  if (distil) {
    return {"transformer.layer.", "attention.q_lin", "attention.k_lin", "attention.v_lin",  "attention.out_lin",
            "sa_layer_norm",      "ffn.lin1",        "ffn.lin2",        "output_layer_norm"};
  }
  return {"encoder.layer.",       "attention.self.query",   "attention.self.key",
          "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
          "intermediate.dense",   "output.dense",           "output.LayerNorm"};
}

Matrix add(const Matrix& a, const Matrix& b) {
  Matrix sum = a;
  for (size_t r = 0; r < a.size(); ++r) {
    for (size_t c = 0; c < a[r].size(); ++c) sum[r][c] += b[r][c];
  }
  return sum;
}

}  // namespace

TinyBert::TinyBert(bool is_distil, uint32_t seed, std::string name_prefix)
    : distil(is_distil), prefix(std::move(name_prefix)) {
  std::mt19937 engine(seed);
  const auto matrix = [&](const std::string& name, uint32_t rows, uint32_t cols) {
    set(name + ".weight", {rows, cols}, random_values(engine, uint64_t{rows} * cols, 0, spread));
  };
  const auto layer = [&](const std::string& name, uint32_t rows, uint32_t cols) {
    matrix(name, rows, cols);
    set(name + ".bias", {rows}, random_values(engine, rows, 0, 0.1));
  };
  const auto norm = [&](const std::string& name) {
    set(name + ".weight", {features}, random_values(engine, features, 1, 0.2));
    set(name + ".bias", {features}, random_values(engine, features, 0, 0.2));
  };
  matrix("embeddings.word_embeddings", vocabulary, features);
  matrix("embeddings.position_embeddings", positions, features);
  if (!distil) matrix("embeddings.token_type_embeddings", segments, features);
  norm("embeddings.LayerNorm");
  const Names names = names_of(distil);
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string block = names.block + std::to_string(i) + ".";
    for (const std::string& name : {names.query, names.key, names.value, names.output}) {
      layer(block + name, features, features);
    }
    layer(block + names.up, hidden, features);
    layer(block + names.down, features, hidden);
    norm(block + names.norm1);
    norm(block + names.norm2);
  }
  config = {{"vocab_size", vocabulary}, {"max_position_embeddings", positions}, {"transformers_version", "4.8.2"}};
  if (distil) {
    config.update({{"model_type", "distilbert"},
                   {"architectures", {"DistilBertModel"}},
                   {"n_layers", layers},
                   {"n_heads", heads},
                   {"dim", features},
                   {"hidden_dim", hidden},
                   {"activation", "gelu"},
                   {"dropout", 0.1}});
  } else {
    config.update({{"model_type", "bert"},
                   {"architectures", {"BertModel"}},
                   {"num_hidden_layers", layers},
                   {"num_attention_heads", heads},
                   {"hidden_size", features},
                   {"intermediate_size", hidden},
                   {"type_vocab_size", segments},
                   {"hidden_act", "gelu"},
                   {"layer_norm_eps", 1e-12},
                   {"position_embedding_type", "absolute"}});
  }
}

void TinyBert::set(const std::string& name, std::vector<uint64_t> shape, const std::vector<float>& values) {
  tensors[name] = f32_tensor(prefix + name, std::move(shape), values);
}

std::vector<float> TinyBert::values(const std::string& name) const {
  const std::string& bytes = tensors.at(name).bytes;
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void TinyBert::write(const std::filesystem::path& folder) const {
  std::vector<RawTensor> list;
  for (const auto& [name, tensor] : tensors) list.push_back(tensor);
  write_file(folder / "config.json", config.dump());
  write_file(folder / "model.safetensors", safetensors_bytes(list));
  if (!modules.empty()) write_modules(folder);
}

void TinyBert::write_modules(const std::filesystem::path& folder) const {
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < modules.size(); ++i) {
    const std::string path = i == 0 ? "" : std::to_string(i) + "_" + modules[i];
    list.push_back({{"idx", i},
                    {"name", std::to_string(i)},
                    {"path", path},
                    {"type", "sentence_transformers.models." + modules[i]}});
    if (modules[i] == "Pooling") write_file(folder / path / "config.json", pooling.dump());
  }
  write_file(folder / "modules.json", list.dump());
}

Matrix TinyBert::linear(const Matrix& x, const std::string& name) const {
  const std::vector<float> w = values(name + ".weight");
  const std::vector<float> b = values(name + ".bias");
  Matrix y(x.size(), std::vector<double>(b.begin(), b.end()));
  for (size_t r = 0; r < x.size(); ++r) {
    for (size_t o = 0; o < b.size(); ++o) {
      for (size_t c = 0; c < x[r].size(); ++c) y[r][o] += x[r][c] * w[o * x[r].size() + c];
    }
  }
  return y;
}

Matrix TinyBert::norm(const Matrix& x, const std::string& name) const {
  const std::vector<float> gain = values(name + ".weight");
  const std::vector<float> shift = values(name + ".bias");
  Matrix y = x;
  for (auto& row : y) {
    double mean = 0;
    double variance = 0;
    for (const double value : row) mean += value / row.size();
    for (const double value : row) variance += (value - mean) * (value - mean) / row.size();
    for (size_t c = 0; c < row.size(); ++c) row[c] = (row[c] - mean) / std::sqrt(variance + 1e-12) * gain[c] + shift[c];
  }
  return y;
}

Matrix TinyBert::attend(const Matrix& q, const Matrix& k, const Matrix& v) const {
  const uint32_t width = features / heads;
  Matrix out(q.size(), std::vector<double>(features));
  for (uint32_t h = 0; h < heads; ++h) {
    for (size_t r = 0; r < q.size(); ++r) {
      std::vector<double> weights(k.size());
      double sum = 0;
      for (size_t j = 0; j < k.size(); ++j) {
        for (uint32_t d = h * width; d < (h + 1) * width; ++d) weights[j] += q[r][d] * k[j][d];
        weights[j] /= std::sqrt(static_cast<double>(width));
      }
      const double largest = *std::max_element(weights.begin(), weights.end());
      for (double& weight : weights) sum += weight = std::exp(weight - largest);
      for (size_t j = 0; j < k.size(); ++j) {
        for (uint32_t d = h * width; d < (h + 1) * width; ++d) out[r][d] += weights[j] / sum * v[j][d];
      }
    }
  }
  return out;
}

Matrix TinyBert::hidden_rows(const std::vector<int32_t>& ids, const std::vector<int32_t>& segment_ids) const {
  const std::vector<float> token = values("embeddings.word_embeddings.weight");
  const std::vector<float> position = values("embeddings.position_embeddings.weight");
  Matrix x(ids.size(), std::vector<double>(features));
  for (size_t r = 0; r < ids.size(); ++r) {
    for (uint32_t c = 0; c < features; ++c) {
      x[r][c] = static_cast<double>(token[ids[r] * features + c]) + position[r * features + c];
      if (distil) continue;
      const int32_t segment = segment_ids.empty() ? 0 : segment_ids[r];
      x[r][c] += values("embeddings.token_type_embeddings.weight")[segment * features + c];
    }
  }
  x = norm(x, "embeddings.LayerNorm");
  const Names names = names_of(distil);
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string block = names.block + std::to_string(i) + ".";
    const Matrix pooled =
        attend(linear(x, block + names.query), linear(x, block + names.key), linear(x, block + names.value));
    x = norm(add(x, linear(pooled, block + names.output)), block + names.norm1);
    Matrix inner = linear(x, block + names.up);
    for (auto& row : inner) {
      for (double& value : row) value = value * (1 + std::erf(value / std::sqrt(2.0))) / 2;
    }
    x = norm(add(x, linear(inner, block + names.down)), block + names.norm2);
  }
  return x;
}

std::vector<double> TinyBert::embedding(const std::vector<int32_t>& ids) const {
  const Matrix rows = hidden_rows(ids);
  std::vector<double> mean(features);
  double length = 0;
  for (const auto& row : rows) {
    for (uint32_t c = 0; c < features; ++c) mean[c] += row[c] / rows.size();
  }
  for (const double value : mean) length += value * value;
  for (double& value : mean) value /= std::sqrt(length);
  return mean;
}

double cosine(const std::vector<double>& a, const std::vector<float>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += a[i] * b.at(i);
    aa += a[i] * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return dot / std::sqrt(aa * bb);
}

}  // namespace heed::test
