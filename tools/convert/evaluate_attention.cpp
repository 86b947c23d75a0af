// Attention from its formula: every score, keys that a state keeps, T5's positions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "convert/evaluate.h"
#include "error.h"

namespace heed::tools {
namespace {

using schema::NodeT;
using schema::ScoreKind;
using schema::StateKind;

// Where one head's part of a row begins.
struct Head {
  uint32_t query, key, value, out;
};

// What adds to or weighs a head's scores; null where the node has no such thing.
struct ScoreParts {
  const float* additive;                  // [head_dim]
  const std::vector<float>* by_distance;  // by keys.rows - 1 + key - place
};

// The place of row r of q among the keys.
int64_t place_of(const NodeT& node, const Values& q, const Values& k, uint32_t r) {
  return r + (node.causal_top_left ? 0 : int64_t{k.rows} - q.rows);
}

// The keys that a row may see: [first, second).
std::pair<int64_t, int64_t> visible_keys(const NodeT& node, const Values& k, int64_t place) {
  int64_t end = k.rows;
  if (node.causal) end = std::min(end, place + 1);
  if (node.window_right >= 0) end = std::min(end, place + node.window_right + 1);
  return {node.window_left >= 0 ? std::max<int64_t>(0, place - node.window_left) : 0, end};
}

float score(const NodeT& node, const float* q, const float* k, const float* additive) {
  float sum = 0;
  for (uint32_t d = 0; d < node.head_dim; ++d) sum += additive ? additive[d] * std::tanh(q[d] + k[d]) : q[d] * k[d];
  return sum * node.scale;
}

// One head of one sequence: out = softmax(scores) v.
void attend(const NodeT& node, const Head& head, const ScoreParts& parts, const Values& q, const Values& k, const Values& v, Values& out) {
  std::vector<float> scores(k.rows);
  for (uint32_t r = 0; r < q.rows; ++r) {
    const int64_t place = place_of(node, q, k, r);
    const auto [begin, end] = visible_keys(node, k, place);
    if (begin >= end) continue;  // nothing to attend to: zeros
    for (int64_t j = begin; j < end; ++j) {
      scores[j] = score(node, q.row(r) + head.query, k.row(j) + head.key, parts.additive);
      if (parts.by_distance) scores[j] += parts.by_distance->at(static_cast<size_t>(int64_t{k.rows} - 1 + j - place));
    }
    softmax(&scores[begin], static_cast<uint32_t>(end - begin));
    for (int64_t j = begin; j < end; ++j) {
      for (uint32_t d = 0; d < node.value_dim; ++d) out.row(r)[head.out + d] += scores[j] * v.row(j)[head.value + d];
    }
  }
}

// T5's bucket for key - query, of a table with so many rows.
uint32_t bucket_of(const NodeT& node, int64_t distance, uint32_t buckets) {
  const uint32_t side = node.position_two_sided ? buckets / 2 : buckets;
  const uint32_t first = node.position_two_sided && distance > 0 ? side : 0;
  const int64_t far = node.position_two_sided ? std::abs(distance) : std::max<int64_t>(-distance, 0);
  const uint32_t exact = side / 2;
  if (far < exact) return first + static_cast<uint32_t>(far);
  const double share = std::log(static_cast<double>(far) / exact) / std::log(static_cast<double>(node.position_max_distance) / exact);
  return first + std::min(exact + static_cast<uint32_t>(share * (side - exact) + 1e-9), side - 1);
}

void append(const Values& rows, Values& kept) {
  kept.features = rows.features;
  kept.rows += rows.rows;
  kept.data.insert(kept.data.end(), rows.data.begin(), rows.data.end());
}

}  // namespace

Values Evaluator::attention(const NodeT& node, const Inputs& in, KeptStates& states, const Watch& watch) const {
  Values rows = *in.at(0);
  normalize(node, node.norm_in, rows);
  const Values& source = in.size() > 1 ? *in[1] : rows;
  const bool fixed = node.state >= 0 && spec_.model.states.at(node.state)->kind == StateKind::kv_fixed;
  const Values q = project(node.query, rows, watch);
  Kept fresh;
  if (!fixed) fresh = {project(node.key, source, watch), project(node.value, source, watch)};
  if (node.state >= 0 && !fixed) {
    append(fresh.keys, states[node.state].keys);
    append(fresh.values, states[node.state].values);
  }
  const Kept& kept = node.state >= 0 ? states[node.state] : fresh;
  const uint32_t width = node.heads * node.value_dim;
  Values pooled{q.rows, width, std::vector<float>(size_t{q.rows} * width), {}};
  attend_all(node, q, kept.keys, kept.values, pooled);
  Values out = project(node.output, pooled, watch);
  finish_block(node, *in[0], out);
  return out;
}

void Evaluator::attend_all(const NodeT& node, const Values& q, const Values& k, const Values& v, Values& pooled) const {
  const Weight* table = node.position_weight >= 0 ? &weights_.at(node.position_weight) : nullptr;
  for (uint32_t h = 0; h < node.heads; ++h) {
    std::vector<float> by_distance;
    for (int64_t place = 0; table && place < 2 * int64_t{k.rows} - 1; ++place) {
      by_distance.push_back(table->values[bucket_of(node, place - (int64_t{k.rows} - 1), table->rows) * table->cols + h]);
    }
    const float* additive = node.score_weight >= 0 ? &weights_.at(node.score_weight).values[size_t{h} * node.head_dim] : nullptr;
    const uint32_t kv = h / (node.heads / node.kv_heads);
    attend(node, {h * node.head_dim, kv * node.head_dim, kv * node.value_dim, h * node.value_dim},
           {additive, table ? &by_distance : nullptr}, q, k, v, pooled);
  }
}

}  // namespace heed::tools
