// SPDX-License-Identifier: Apache-2.0
#include "attention/maps.h"

#include <algorithm>
#include <charconv>

#include "error.h"

namespace heed::tools {
namespace {

// "0", or "0 to 5".
std::string range_text(size_t count) { return count == 1 ? "0" : "0 to " + std::to_string(count - 1); }

int32_t parse_index(const std::string& flag, const std::string& text, size_t count, const std::string& owner, const std::string& words) {
  uint32_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index >= count) {
    throw UsageError(flag + " " + text + ": " + owner + " has " + range_text(count) + ", " + words);
  }
  return static_cast<int32_t>(index);
}

std::vector<float> mean_of_heads(const AttentionLayer& layer, size_t cells) {
  std::vector<float> mean(cells);
  for (size_t i = 0; i < cells; ++i) {
    double sum = 0;
    for (uint32_t head = 0; head < layer.heads; ++head) sum += double{layer.weights[head * cells + i]};
    mean[i] = static_cast<float>(sum / layer.heads);
  }
  return mean;
}

// [n, n], in double: after some layers the smallest shares are products of many.
std::vector<float> rollout(const Attention& attention) {
  const size_t n = attention.rows.size();
  std::vector<double> arrived(n * n);
  for (size_t i = 0; i < n; ++i) arrived[i * n + i] = 1;
  for (const AttentionLayer& layer : attention.layers) {
    const std::vector<float> mean = mean_of_heads(layer, n * n);
    std::vector<double> next(n * n);
    for (size_t row = 0; row < n; ++row) {
      double looked = 0;
      for (size_t via = 0; via < n; ++via) looked += double{mean[row * n + via]};
      for (size_t via = 0; via < n; ++via) {
        // A row that looks at nothing keeps all it has.
        const double share = (double{mean[row * n + via]} + (row == via ? 1 : 0)) / (looked + 1);
        for (size_t column = 0; column < n; ++column) next[row * n + column] += share * arrived[via * n + column];
      }
    }
    arrived = std::move(next);
  }
  return {arrived.begin(), arrived.end()};
}

std::string title_of(const Attention& attention, MapKey key) {
  if (key.layer == kRolloutLayer) return "rollout over " + std::to_string(attention.layers.size()) + " layers";
  const uint32_t heads = attention.layers[static_cast<size_t>(key.layer)].heads;
  const std::string layer = "layer " + std::to_string(key.layer) + ", ";
  if (key.head != kMeanHead) return layer + "head " + std::to_string(key.head);
  return layer + (heads == 1 ? "its one head" : "mean of " + std::to_string(heads) + " heads");
}

}  // namespace

std::vector<MapKey> choose_maps(const Attention& attention, const std::string& layer, const std::string& head) {
  const size_t layers = attention.layers.size();
  if (layer == "rollout") {
    if (!attention.self) throw UsageError("--layer rollout: rows and columns of " + attention.model + " are not the same tokens");
    if (!head.empty() && head != "mean") throw UsageError("--head " + head + ": the rollout is of the mean of all heads");
    return {{kRolloutLayer, kMeanHead}};
  }
  int32_t first = static_cast<int32_t>(layers) - 1;
  int32_t last = first;
  if (layer == "all") {
    first = 0;
  } else if (!layer.empty()) {
    first = last = parse_index("--layer", layer, layers, attention.model, attention.self ? "all and rollout" : "and all");
  }
  std::vector<MapKey> keys;
  for (int32_t at = first; at <= last; ++at) {
    const uint32_t heads = attention.layers[static_cast<size_t>(at)].heads;
    if (head == "all") {
      for (uint32_t h = 0; h < heads; ++h) keys.push_back({at, static_cast<int32_t>(h)});
    } else if (head.empty() || head == "mean") {
      keys.push_back({at, kMeanHead});
    } else {
      keys.push_back({at, parse_index("--head", head, heads, "layer " + std::to_string(at) + " of " + attention.model, "mean and all")});
    }
  }
  return keys;
}

std::vector<MapKey> all_maps(const Attention& attention) {
  std::vector<MapKey> keys;
  for (size_t layer = 0; layer < attention.layers.size(); ++layer) {
    for (int32_t head = kMeanHead; head < static_cast<int32_t>(attention.layers[layer].heads); ++head) keys.push_back({static_cast<int32_t>(layer), head});
  }
  if (attention.self) keys.push_back({kRolloutLayer, kMeanHead});
  return keys;
}

Map make_map(const Attention& attention, MapKey key) {
  Map map{key, title_of(attention, key), {}};
  if (key.layer == kRolloutLayer) {
    map.weights = rollout(attention);
    return map;
  }
  const AttentionLayer& layer = attention.layers[static_cast<size_t>(key.layer)];
  const size_t cells = attention.rows.size() * attention.columns.size();
  if (key.head == kMeanHead) {
    map.weights = mean_of_heads(layer, cells);
  } else {
    const float* begin = layer.weights.data() + static_cast<size_t>(key.head) * cells;
    map.weights.assign(begin, begin + cells);
  }
  return map;
}

}  // namespace heed::tools
