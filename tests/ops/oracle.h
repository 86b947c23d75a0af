// What the ops compute, in double precision and from their formulas; nothing here calls heed's code.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "oracle/functions.h"
#include "support/model_builder.h"
#include "support/test_session.h"

namespace heed::testing {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

inline Matrix to_matrix(const Plain& plain) {
  Matrix out(plain.rows, Vector(plain.cols));
  for (uint32_t r = 0; r < plain.rows; ++r) {
    for (uint32_t c = 0; c < plain.cols; ++c) out[r][c] = plain.at(r, c);
  }
  return out;
}

inline Matrix slice(const Matrix& rows, size_t begin, size_t count) {
  return {rows.begin() + static_cast<long>(begin), rows.begin() + static_cast<long>(begin + count)};
}

inline Matrix linear(const Matrix& x, const Plain& weight, const std::vector<float>& bias = {}) {
  Matrix out(x.size(), Vector(weight.rows));
  for (size_t r = 0; r < x.size(); ++r) {
    for (uint32_t o = 0; o < weight.rows; ++o) {
      double sum = bias.empty() ? 0.0 : bias[o];
      for (uint32_t c = 0; c < weight.cols; ++c) sum += x[r][c] * static_cast<double>(weight.at(o, c));
      out[r][o] = sum;
    }
  }
  return out;
}

inline Vector norm(const Vector& x, const std::vector<float>& gain, const std::vector<float>& shift, double epsilon,
                   bool rms) {
  const double n = static_cast<double>(x.size());
  double mean = 0;
  for (double v : x) mean += v / n;
  if (rms) mean = 0;
  double variance = 0;
  for (double v : x) variance += (v - mean) * (v - mean) / n;
  Vector out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    out[i] = (x[i] - mean) / std::sqrt(variance + epsilon) * gain[i] + (shift.empty() ? 0.0 : shift[i]);
  }
  return out;
}

inline Matrix add(Matrix a, const Matrix& b) {
  for (size_t r = 0; r < a.size(); ++r) {
    for (size_t c = 0; c < a[r].size(); ++c) a[r][c] += b[r][c];
  }
  return a;
}

inline double activate(schema::ActivationKind kind, double x) {
  switch (kind) {
    case schema::ActivationKind::none: return x;
    case schema::ActivationKind::relu: return x > 0 ? x : 0;
    case schema::ActivationKind::gelu: return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case schema::ActivationKind::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    case schema::ActivationKind::silu: return x / (1 + std::exp(-x));
    case schema::ActivationKind::tanh: return std::tanh(x);
    case schema::ActivationKind::sigmoid: return 1 / (1 + std::exp(-x));
  }
  return 0;
}

// Which keys a query sees.
struct Mask {
  bool causal = false;
  bool top_left = false;
  int left = -1;
  int right = -1;
  bool sees(long query, long key, long queries, long keys) const {
    const long place = query + (top_left ? 0 : keys - queries);
    return !(causal && key > place) && !(left >= 0 && key < place - left) && !(right >= 0 && key > place + right);
  }
};

struct Heads {
  uint32_t heads;
  uint32_t kv_heads;
  uint32_t head_dim;
  uint32_t value_dim;
};

// weights[h][q][k] of one sequence; a query that sees nothing has zeros.
inline std::vector<Matrix> attention_weights(const Matrix& q, const Matrix& k, const Heads& heads, double scale,
                                             const Mask& mask) {
  std::vector<Matrix> all(heads.heads, Matrix(q.size(), Vector(k.size())));
  for (uint32_t h = 0; h < heads.heads; ++h) {
    const size_t from = h * heads.head_dim;
    const size_t to = h / (heads.heads / heads.kv_heads) * heads.head_dim;
    for (size_t i = 0; i < q.size(); ++i) {
      double sum = 0;
      double most = -1e300;
      Vector score(k.size());
      for (size_t j = 0; j < k.size(); ++j) {
        for (uint32_t d = 0; d < heads.head_dim; ++d) score[j] += q[i][from + d] * k[j][to + d] * scale;
        if (mask.sees(static_cast<long>(i), static_cast<long>(j), static_cast<long>(q.size()),
                      static_cast<long>(k.size()))) {
          most = std::max(most, score[j]);
        }
      }
      for (size_t j = 0; j < k.size(); ++j) {
        if (!mask.sees(static_cast<long>(i), static_cast<long>(j), static_cast<long>(q.size()),
                       static_cast<long>(k.size()))) {
          continue;
        }
        all[h][i][j] = std::exp(score[j] - most);
        sum += all[h][i][j];
      }
      for (double& w : all[h][i]) w = sum > 0 ? w / sum : 0;
    }
  }
  return all;
}

inline Matrix pool_values(const std::vector<Matrix>& weights, const Matrix& v, const Heads& heads) {
  const size_t rows = weights[0].size();
  Matrix out(rows, Vector(heads.heads * heads.value_dim));
  for (uint32_t h = 0; h < heads.heads; ++h) {
    const size_t from = h / (heads.heads / heads.kv_heads) * heads.value_dim;
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < v.size(); ++j) {
        for (uint32_t d = 0; d < heads.value_dim && weights[h][i][j] > 0; ++d) {
          out[i][h * heads.value_dim + d] += weights[h][i][j] * v[j][from + d];
        }
      }
    }
  }
  return out;
}

// Signal over noise in decibels.
inline double snr_db(const Matrix& expected, const Output& got) {
  double signal = 0;
  double noise = 0;
  for (uint32_t r = 0; r < got.rows; ++r) {
    for (uint32_t c = 0; c < got.features; ++c) {
      const double difference = got.at(r, c) - expected[r][c];
      signal += expected[r][c] * expected[r][c];
      noise += difference * difference;
    }
  }
  return noise == 0 ? 300 : 10 * std::log10(signal / noise);
}

}  // namespace heed::testing
