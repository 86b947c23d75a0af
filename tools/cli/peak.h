// How many int8 multiply-adds a second one core of this machine can do at most: what bench compares with.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace heed::tools {

// The instruction set's own int8 products on registers alone, without loads or stores. A processor's clock changes while
// something is measured: samples taken in between see the same clock.
class Int8Peak {
 public:
  // A step of these loops does `multiply_adds`.
  struct Loop {
    void (*run)();
    double multiply_adds;
  };

  explicit Int8Peak(const std::string& isa);  // throws Error for an unknown name
  void sample();                              // takes a millisecond or two
  // The best rate of all samples, in 10^9 multiply-adds a second.
  double gmac_per_s() const { return best_; }

 private:
  std::vector<Loop> loops_;
  double best_ = 0;
};

// Reads a block far larger than the caches, again and again for about a tenth of a second, on one thread: the best rate, in
// 10^9 bytes a second.
double read_peak_gb_per_s();

}  // namespace heed::tools
