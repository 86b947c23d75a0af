// The ops from their formulas, in f32 with long sums in f64 where they are few.
// SPDX-License-Identifier: Apache-2.0
#include "convert/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "error.h"

namespace heed::tools {

void softmax(float* row, uint32_t count) {
  const float largest = *std::max_element(row, row + count);
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += row[i] = std::exp(row[i] - largest);
  for (uint32_t i = 0; i < count; ++i) row[i] = static_cast<float>(row[i] / sum);
}

namespace {

using schema::ActivationKind;
using schema::NodeT;
using schema::OpKind;

constexpr uint32_t kRowsTogether = 8;

void add_scaled(float factor, const float* __restrict in, uint32_t count, float* __restrict out) {
  for (uint32_t i = 0; i < count; ++i) out[i] += factor * in[i];
}

float activate(ActivationKind kind, float x) {
  switch (kind) {
    case ActivationKind::none:
      return x;
    case ActivationKind::relu:
      return x > 0 ? x : 0;
    case ActivationKind::gelu:
      return x * 0.5f * (1 + std::erf(x * static_cast<float>(M_SQRT1_2)));
    case ActivationKind::gelu_tanh:
      return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    case ActivationKind::silu:
      return x / (1 + std::exp(-x));
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-x));
  }
  return x;
}

void activate(ActivationKind kind, Values& values) {
  for (float& x : values.data) x = activate(kind, x);
}

void l2_normalize(float* row, uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += static_cast<double>(row[i]) * row[i];
  for (uint32_t i = 0; i < count && sum > 0; ++i) row[i] = static_cast<float>(row[i] / std::sqrt(sum));
}

Values pool(const NodeT& node, const Values& in) {
  Values out{1, in.features, std::vector<float>(in.features), {}};
  for (uint32_t c = 0; c < in.features; ++c) {
    double sum = 0;
    float largest = in.row(0)[c];
    for (uint32_t r = 0; r < in.rows; ++r) {
      sum += in.row(r)[c];
      largest = std::max(largest, in.row(r)[c]);
    }
    switch (node.pool) {
      case schema::PoolKind::first:
        out.data[c] = in.row(0)[c];
        break;
      case schema::PoolKind::last:
        out.data[c] = in.row(in.rows - 1)[c];
        break;
      case schema::PoolKind::mean:
        out.data[c] = static_cast<float>(sum / in.rows);
        break;
      case schema::PoolKind::max:
        out.data[c] = largest;
        break;
      default:
        throw Error("node '" + node.name + "': this pooling cannot be evaluated yet");
    }
  }
  return out;
}

template <class Op>
Values combine(const Values& a, const Values& b, Op op) {
  Values out = a;
  for (size_t i = 0; i < out.data.size(); ++i) out.data[i] = op(a.data[i], b.data[i]);
  return out;
}

// The features of all inputs side by side.
Values concatenate(const std::vector<const Values*>& in) {
  Values out{in[0]->rows, 0, {}, {}};
  for (const Values* one : in) out.features += one->features;
  for (uint32_t r = 0; r < out.rows; ++r) {
    for (const Values* one : in) out.data.insert(out.data.end(), one->row(r), one->row(r) + one->features);
  }
  return out;
}

Values slice(const NodeT& node, const Values& in) {
  Values out{in.rows, node.slice_end - node.slice_begin, {}, {}};
  for (uint32_t r = 0; r < in.rows; ++r) out.data.insert(out.data.end(), in.row(r) + node.slice_begin, in.row(r) + node.slice_end);
  return out;
}

}  // namespace

Evaluator::Evaluator(const Spec& spec) : spec_(spec) {
  const std::vector<Role> roles = weight_roles(spec);
  for (size_t i = 0; i < spec.weights.size(); ++i) {
    Weight weight{spec.model.weights[i]->rows, spec.model.weights[i]->cols, to_f32(spec.weights[i].values), {}, false};
    if (spec.weights[i].bias) weight.bias = to_f32(*spec.weights[i].bias);
    if (roles[i] == Role::kMatrix) {
      std::vector<float> transposed(weight.values.size());
      for (size_t r = 0; r < weight.rows; ++r) {
        for (size_t c = 0; c < weight.cols; ++c) transposed[c * weight.rows + r] = weight.values[r * weight.cols + c];
      }
      weight.values = std::move(transposed);
      weight.transposed = true;
    }
    weights_.push_back(std::move(weight));
  }
}

std::map<std::string, Values> Evaluator::run(const schema::GraphT& graph, const std::map<std::string, Values>& inputs, KeptStates& states,
                                             const Watch& watch) const {
  std::vector<Values> values(graph.values);
  const uint32_t rows = inputs.empty() ? 0 : inputs.begin()->second.rows;
  for (const auto& input : graph.inputs) {
    const auto given = inputs.find(input->name);
    const bool ids = input->type == schema::ElementType::i32;
    if (given != inputs.end()) {
      values[input->value] = given->second;
    } else if (ids) {
      values[input->value] = {rows, 0, {}, std::vector<int32_t>(rows)};
    } else {
      values[input->value] = {rows, input->features, std::vector<float>(size_t{rows} * input->features), {}};
    }
  }
  for (const auto& node : graph.nodes) {
    Inputs in;
    for (const uint16_t id : node->inputs) in.push_back(&values.at(id));
    std::vector<Values> out = evaluate(*node, in, states, watch);
    for (size_t i = 0; i < node->outputs.size(); ++i) values.at(node->outputs[i]) = std::move(out.at(i));
  }
  std::map<std::string, Values> outputs;
  for (const auto& output : graph.outputs) outputs[output->name] = values.at(output->value);
  return outputs;
}

std::vector<Values> Evaluator::evaluate(const NodeT& node, const Inputs& in, KeptStates& states, const Watch& watch) const {
  switch (node.op) {
    case OpKind::Embed:
      return {embed(node, in, states)};
    case OpKind::Attention:
      return {attention(node, in, states, watch)};
    case OpKind::FeedForward:
      return {feed_forward(node, *in.at(0), watch)};
    case OpKind::Linear: {
      Values out = multiply(node.weight, *in.at(0), watch);
      activate(node.activation, out);
      return {std::move(out)};
    }
    case OpKind::Recurrent:
      return recurrent(node, in, watch);
    case OpKind::KeyValue:
      states[node.state] = {project(node.key, *in.at(0), watch), project(node.value, *in.at(0), watch)};
      return {};
    case OpKind::LoadState: {
      const Values& kept = states[node.state].keys;
      const uint32_t features = spec_.model.states.at(node.state)->features;
      return {kept.rows ? kept : Values{1, features, std::vector<float>(features), {}}};
    }
    case OpKind::StoreState:
      states[node.state].keys = *in.at(0);
      return {};
    default:
      return {loose(node, in)};
  }
}

// Ops without weights, and norms.
Values Evaluator::loose(const NodeT& node, const Inputs& in) const {
  Values out = *in.at(0);
  switch (node.op) {
    case OpKind::Norm:
      normalize(node, node.weight, out);
      return out;
    case OpKind::Activation:
      activate(node.activation, out);
      return out;
    case OpKind::Add:
      return combine(out, *in.at(1), [](float a, float b) { return a + b; });
    case OpKind::Mul:
      return combine(out, *in.at(1), [](float a, float b) { return a * b; });
    case OpKind::Softmax:
      for (uint32_t r = 0; r < out.rows; ++r) softmax(out.row(r), out.features);
      return out;
    case OpKind::Pool:
      return pool(node, out);
    case OpKind::L2Normalize:
      for (uint32_t r = 0; r < out.rows; ++r) l2_normalize(out.row(r), out.features);
      return out;
    case OpKind::Concat:
      return concatenate(in);
    case OpKind::Slice:
      return slice(node, out);
    default:
      throw Error("node '" + node.name + "': the op " + schema::EnumNameOpKind(node.op) + " cannot be evaluated yet");
  }
}

Values Evaluator::embed(const NodeT& node, const Inputs& in, const KeptStates& states) const {
  const auto kept = states.find(node.state);
  const int64_t before = kept == states.end() ? 0 : kept->second.keys.rows;
  const Weight& token = weights_.at(node.token);
  Values out{in.at(0)->rows, token.cols, std::vector<float>(size_t{in[0]->rows} * token.cols), {}};
  const auto add = [&](int32_t id, uint32_t row, int64_t index, float scale) {
    const Weight& table = weights_[id];
    if (index < 0 || index >= table.rows) {
      throw Error("node '" + node.name + "': id " + std::to_string(index) + " is outside its table");
    }
    for (uint32_t c = 0; c < table.cols; ++c) out.row(row)[c] += table.at(static_cast<size_t>(index), c) * scale;
  };
  for (uint32_t r = 0; r < out.rows; ++r) {
    add(node.token, r, in[0]->ids[r], node.scale);
    if (node.position >= 0) add(node.position, r, before + r + node.position_offset, 1);
    if (node.segment >= 0) add(node.segment, r, in.size() > 1 ? in[1]->ids[r] : 0, 1);
  }
  normalize(node, node.norm_out, out);
  return out;
}

Values Evaluator::feed_forward(const NodeT& node, const Values& in, const Watch& watch) const {
  Values rows = in;
  normalize(node, node.norm_in, rows);
  Values hidden = multiply(node.up, rows, watch);
  if (node.gate >= 0) {
    Values gate = multiply(node.gate, rows, watch);
    activate(node.activation, gate);
    hidden = combine(hidden, gate, [](float a, float b) { return a * b; });
  } else {
    activate(node.activation, hidden);
  }
  Values out = multiply(node.down, hidden, watch);
  finish_block(node, in, out);
  return out;
}

void Evaluator::finish_block(const NodeT& node, const Values& in, Values& branch) const {
  normalize(node, node.norm_branch, branch);
  if (node.residual) branch = combine(branch, in, [](float a, float b) { return a + b; });
  normalize(node, node.norm_out, branch);
}

Values Evaluator::multiply(int32_t id, const Values& in, const Watch& watch) const {
  const Weight& weight = weights_.at(id);
  if (in.features != weight.cols) throw Error("weight '" + spec_.model.weights[id]->name + "' does not fit its input");
  if (watch) watch(id, in);
  Values out{in.rows, weight.rows, std::vector<float>(size_t{in.rows} * weight.rows), {}};
  for (uint32_t r = 0; r < in.rows; ++r) std::copy(weight.bias.begin(), weight.bias.end(), out.row(r));
  // Some rows at a time, so that a line of weights is read from near by.
  for (uint32_t begin = 0; begin < in.rows; begin += kRowsTogether) {
    const uint32_t end = std::min(begin + kRowsTogether, in.rows);
    for (uint32_t c = 0; c < weight.cols; ++c) {
      const float* w = &weight.values[size_t{c} * weight.rows];
      for (uint32_t r = begin; r < end; ++r) add_scaled(in.row(r)[c], w, weight.rows, out.row(r));
    }
  }
  return out;
}

void Evaluator::normalize(const NodeT& node, int32_t norm, Values& values) const {
  if (norm < 0) return;
  const Weight& weight = weights_[norm];
  const bool center = node.norm_kind == schema::NormKind::layer;
  for (uint32_t r = 0; r < values.rows; ++r) {
    float* x = values.row(r);
    double mean = 0;
    for (uint32_t c = 0; c < values.features; ++c) mean += x[c];
    mean = center ? mean / values.features : 0;
    double variance = 0;
    for (uint32_t c = 0; c < values.features; ++c) variance += (x[c] - mean) * (x[c] - mean);
    const double factor = 1 / std::sqrt(variance / values.features + node.epsilon);
    for (uint32_t c = 0; c < values.features; ++c) {
      x[c] = static_cast<float>((x[c] - mean) * factor * weight.values[c] + (weight.bias.empty() ? 0 : weight.bias[c]));
    }
  }
}

}  // namespace heed::tools
