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

class Evaluator {
 public:
  // Sees every matrix's id and the rows it is about to multiply.
  using Watch = std::function<void(int32_t weight, const Values& input)>;

  explicit Evaluator(const Spec& spec);

  // Runs the first graph; an input that is absent reads as zeros. Returns the outputs by name. Throws Error for ids
  // outside their table and for an op or attribute that it does not have.
  std::map<std::string, Values> run(const std::map<std::string, Values>& inputs, const Watch& watch = {}) const;

 private:
  struct Weight {
    uint32_t rows;
    uint32_t cols;
    std::vector<float> values;  // matrices: transposed, [cols, rows]
    std::vector<float> bias;
  };

  Values evaluate(const schema::NodeT& node, const std::vector<const Values*>& in, const Watch& watch) const;
  Values embed(const schema::NodeT& node, const std::vector<const Values*>& in) const;
  Values attention(const schema::NodeT& node, const std::vector<const Values*>& in, const Watch& watch) const;
  Values feed_forward(const schema::NodeT& node, const Values& in, const Watch& watch) const;
  Values multiply(int32_t weight, const Values& in, const Watch& watch) const;
  void normalize(const schema::NodeT& node, int32_t norm, Values& values) const;
  void finish_block(const schema::NodeT& node, const Values& in, Values& branch) const;

  const Spec& spec_;
  std::vector<Weight> weights_;
};

}  // namespace heed::tools
