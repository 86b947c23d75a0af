// Ranges cut to what a kernel takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace heed {

// A range cut into as few pieces as allowed, of nearly the same size: 9 rows as 5 and 4, since small tiles are slow.
class Pieces {
 public:
  Pieces(uint32_t length, uint32_t most) : length_(length), count_((length + uint64_t{most} - 1) / most) {}
  uint64_t count() const { return count_; }
  uint32_t begin(uint64_t i) const { return static_cast<uint32_t>(length_ * i / count_); }
  uint32_t size(uint64_t i) const { return begin(i + 1) - begin(i); }

 private:
  uint64_t length_;
  uint64_t count_;
};

}  // namespace heed
