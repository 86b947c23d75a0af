// GRU and LSTM cells as PyTorch defines them (runtime/ops/recurrent.cpp has the formulas).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "convert/evaluate.h"

namespace heed::tools {
namespace {

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// x, u: products of a row and of h with all gates. Moves h, and m of an lstm, on.
void step(schema::CellKind cell, const float* x, const float* u, Values& h, Values& m) {
  const uint32_t n = h.features;
  for (uint32_t i = 0; i < n; ++i) {
    const auto sum = [&](uint32_t gate) { return x[gate * n + i] + u[gate * n + i]; };
    if (cell == schema::CellKind::lstm) {
      m.data[i] = sigmoid(sum(1)) * m.data[i] + sigmoid(sum(0)) * std::tanh(sum(2));
      h.data[i] = sigmoid(sum(3)) * std::tanh(m.data[i]);
    } else {
      const float fresh = std::tanh(x[2 * n + i] + sigmoid(sum(0)) * u[2 * n + i]);
      h.data[i] = fresh + sigmoid(sum(1)) * (h.data[i] - fresh);
    }
  }
}

// One direction's part of a row.
Values part(const Values& row, uint32_t direction, uint32_t hidden) {
  return {1, hidden, {row.row(0) + direction * hidden, row.row(0) + (direction + 1) * hidden}, {}};
}

}  // namespace

std::vector<Values> Evaluator::recurrent(const schema::NodeT& node, const Inputs& in, const Watch& watch) const {
  const Values& rows = *in.at(0);
  const uint32_t hidden = weights_.at(node.recurrent).cols;
  const uint32_t directions = node.direction == schema::DirectionKind::both ? 2 : 1;
  const uint32_t features = hidden * directions;
  const Values zeros{1, features, std::vector<float>(features), {}};
  std::vector<Values> out = {{rows.rows, features, std::vector<float>(size_t{rows.rows} * features), {}}, zeros, zeros};
  for (uint32_t d = 0; d < directions; ++d) {
    Values h = part(in.size() > 1 ? *in[1] : zeros, d, hidden);
    Values m = part(in.size() > 2 ? *in[2] : zeros, d, hidden);
    const Values products = multiply(d == 0 ? node.weight : node.backward_weight, rows, watch);
    const bool backward = d == 1 || node.direction == schema::DirectionKind::backward;
    for (uint32_t i = 0; i < rows.rows; ++i) {
      const uint32_t r = backward ? rows.rows - 1 - i : i;
      const Values gates = multiply(d == 0 ? node.recurrent : node.backward_recurrent, h, watch);
      step(node.cell, products.row(r), gates.row(0), h, m);
      std::copy(h.data.begin(), h.data.end(), out[0].row(r) + d * hidden);
    }
    std::copy(h.data.begin(), h.data.end(), out[1].row(0) + d * hidden);
    std::copy(m.data.begin(), m.data.end(), out[2].row(0) + d * hidden);
  }
  return out;
}

}  // namespace heed::tools
