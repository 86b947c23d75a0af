// Lays pieces out in a block of memory, or counts what they take.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace heed {

// Hands out aligned pieces of a block; with a null block it only counts, so that `scratch_bytes` and `tile` can
// share one function that lays scratch out.
class Carver {
 public:
  explicit Carver(uint8_t* block) : block_(block) {}
  template <class T>
  T* take(uint64_t count) {
    T* piece = block_ ? reinterpret_cast<T*>(block_ + used_) : nullptr;
    used_ += (count * sizeof(T) + 63) / 64 * 64;
    return piece;
  }
  uint64_t used() const { return used_; }

 private:
  uint8_t* block_;
  uint64_t used_ = 0;
};

}  // namespace heed
