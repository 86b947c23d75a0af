// What a model looked at, and the matrices that are shown of it. Whatever made the weights (an encoder's pass, the steps of a
// decoder), a reader of this interface sees layers, heads, and what rows and columns stand for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace heed::tools {

struct AttentionLayer {
  std::string name;            // of its node
  uint32_t heads = 0;
  std::vector<float> weights;  // [heads, rows, columns]; empty until a model has run
};

struct Attention {
  std::string model;                 // for titles
  std::vector<std::string> rows;     // what looks: a label each
  std::vector<std::string> columns;  // what is looked at
  bool self = false;                 // rows and columns are the same tokens
  std::vector<AttentionLayer> layers;
};

constexpr int32_t kMeanHead = -1;
constexpr int32_t kRolloutLayer = -1;

// Which matrix: a layer's head or the mean of its heads, or the rollout over all layers, which has no heads.
struct MapKey {
  int32_t layer = 0;
  int32_t head = kMeanHead;
};

struct Map {
  MapKey key;
  std::string title;           // "layer 5, mean of 12 heads"
  std::vector<float> weights;  // [rows, columns]
};

// What --layer (a number, "all", "rollout"; empty: the last) and --head (a number, "mean", "all"; empty: mean) ask for. The
// weights need not be there yet. Throws UsageError that names what there is.
std::vector<MapKey> choose_maps(const Attention& attention, const std::string& layer, const std::string& head);
// Everything: each layer's mean and heads, then the rollout where there is one.
std::vector<MapKey> all_maps(const Attention& attention);

// The rollout (Abnar and Zuidema, 2020): every layer passes on half of each row by its residual connection and half by the mean of
// its heads; the product over layers says how much of each input arrives in each row of the last one.
Map make_map(const Attention& attention, MapKey key);

}  // namespace heed::tools
