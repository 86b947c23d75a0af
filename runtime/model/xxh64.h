// XXH64, the checksum of model files: 64 bits over bytes that may come in pieces.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace heed {

class Xxh64 {
 public:
  explicit Xxh64(uint64_t seed = 0);
  void update(const void* bytes, uint64_t count);
  uint64_t digest() const;

 private:
  void stripe(const uint8_t* block);  // 32 bytes

  uint64_t seed_;
  uint64_t lanes_[4];
  uint64_t total_ = 0;
  uint8_t rest_[32] = {};  // the last total_ % 32 bytes
};

inline uint64_t xxh64(const void* bytes, uint64_t count) {
  Xxh64 hash;
  hash.update(bytes, count);
  return hash.digest();
}

// Little-endian numbers at any address.
inline uint32_t read_u32(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16 |
         static_cast<uint32_t>(p[3]) << 24;
}
inline uint64_t read_u64(const uint8_t* p) { return read_u32(p) | static_cast<uint64_t>(read_u32(p + 4)) << 32; }

}  // namespace heed
