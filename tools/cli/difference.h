// How far numbers are from others.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <limits>
#include <span>
#include <string>

namespace heed::tools {

// One output of all cases. SQNR is of all values together.
struct Difference {
  std::string output;
  double min_cosine = std::numeric_limits<double>::infinity();
  double mean_cosine = 0;
  double max_abs_error = 0;
  double sqnr_db = 0;
  size_t worst = 0;
};

class DifferenceSum {
 public:
  explicit DifferenceSum(const std::string& output) { difference_.output = output; }

  // The next case: what was found, and the reference.
  void add(std::span<const float> ours, std::span<const float> reference) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t k = 0; k < ours.size(); ++k) {
      const double a = ours[k], b = reference[k];
      ab += a * b;
      aa += a * a;
      bb += b * b;
      noise_ += (a - b) * (a - b);
      // Not-a-number has to win, so the comparison is the other way round.
      if (!(std::fabs(a - b) <= difference_.max_abs_error)) difference_.max_abs_error = std::fabs(a - b);
    }
    signal_ += bb;
    const double cosine = aa == 0 && bb == 0 ? 1 : aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
    cosines_ += cosine;
    if (!(cosine >= difference_.min_cosine)) {
      difference_.min_cosine = cosine;
      difference_.worst = cases_;
    }
    ++cases_;
  }

  Difference result() const {
    Difference difference = difference_;
    difference.mean_cosine = cosines_ / static_cast<double>(cases_);
    difference.sqnr_db = noise_ == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal_ / noise_);
    return difference;
  }

 private:
  Difference difference_;
  double signal_ = 0, noise_ = 0, cosines_ = 0;
  size_t cases_ = 0;
};

}  // namespace heed::tools
