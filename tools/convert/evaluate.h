// A plain float evaluation of a Spec whose file the runtime has found sound, one sequence at a time: shows what goes
// into every layer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "convert/spec.h"

namespace heed::tools {

// [rows, features], or [rows] ids where features is 0.
struct Values {
  uint32_t rows = 0;
  uint32_t features = 0;
  std::vector<float> data;
  std::vector<int32_t> ids;

  float* row(size_t r) { return data.data() + r * features; }
  const float* row(size_t r) const { return data.data() + r * features; }
};

void softmax(float* row, uint32_t count);

// What a graph keeps of one sequence for later runs, by state: keys and values, or a row (in `keys`).
struct Kept {
  Values keys;
  Values values;
};
using KeptStates = std::map<int32_t, Kept>;

class Evaluator {
 public:
  // Sees every matrix's id and the rows it is about to multiply.
  using Watch = std::function<void(int32_t weight, const Values& input)>;

  explicit Evaluator(const Spec& spec);

  // Runs a graph; an input that is absent reads as zeros, and so does a state that nothing was written to. Returns the outputs by
  // name. Throws Error for ids outside their table and for an op or attribute that it does not have.
  std::map<std::string, Values> run(const schema::GraphT& graph, const std::map<std::string, Values>& inputs, KeptStates& states,
                                    const Watch& watch = {}) const;

 private:
  struct Weight {
    uint32_t rows;
    uint32_t cols;
    std::vector<float> values;  // matrices: transposed, [cols, rows]
    std::vector<float> bias;
    bool transposed = false;

    float at(size_t row, size_t col) const { return values[transposed ? col * rows + row : row * cols + col]; }
  };

  using Inputs = std::vector<const Values*>;

  // The node's outputs.
  std::vector<Values> evaluate(const schema::NodeT& node, const Inputs& in, KeptStates& states, const Watch& watch) const;
  Values loose(const schema::NodeT& node, const Inputs& in) const;
  Values embed(const schema::NodeT& node, const Inputs& in, const KeptStates& states) const;
  Values attention(const schema::NodeT& node, const Inputs& in, KeptStates& states, const Watch& watch) const;
  void attend_all(const schema::NodeT& node, const Values& q, const Values& k, const Values& v, Values& pooled) const;
  std::vector<Values> recurrent(const schema::NodeT& node, const Inputs& in, const Watch& watch) const;
  Values feed_forward(const schema::NodeT& node, const Values& in, const Watch& watch) const;
  Values multiply(int32_t weight, const Values& in, const Watch& watch) const;
  // The rows themselves where the weight is absent.
  Values project(int32_t weight, const Values& in, const Watch& watch) const { return weight < 0 ? in : multiply(weight, in, watch); }
  void normalize(const schema::NodeT& node, int32_t norm, Values& values) const;
  void finish_block(const schema::NodeT& node, const Values& in, Values& branch) const;

  const Spec& spec_;
  std::vector<Weight> weights_;
};

}  // namespace heed::tools
