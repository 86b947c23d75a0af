// XXH64 from its published description: four lanes of 8 bytes, merged and avalanched at the end.
// SPDX-License-Identifier: Apache-2.0
#include "model/xxh64.h"

#include <cstring>

namespace heed {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9u;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5u;

uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }
uint64_t round(uint64_t lane, uint64_t input) { return rotate(lane + input * kPrime2, 31) * kPrime1; }
uint64_t merge(uint64_t hash, uint64_t lane) { return (hash ^ round(0, lane)) * kPrime1 + kPrime4; }

}  // namespace

Xxh64::Xxh64(uint64_t seed)
    : seed_(seed), lanes_{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1} {}

void Xxh64::stripe(const uint8_t* block) {
  for (int i = 0; i < 4; ++i) lanes_[i] = round(lanes_[i], read_u64(block + 8 * i));
}

void Xxh64::update(const void* bytes, uint64_t count) {
  if (count == 0) return;
  const uint8_t* p = static_cast<const uint8_t*>(bytes);
  const uint64_t held = total_ % 32;
  total_ += count;
  if (held > 0) {
    const uint64_t taken = count < 32 - held ? count : 32 - held;
    std::memcpy(rest_ + held, p, static_cast<size_t>(taken));
    p += taken;
    count -= taken;
    if (held + taken < 32) return;
    stripe(rest_);
  }
  for (; count >= 32; p += 32, count -= 32) stripe(p);
  std::memcpy(rest_, p, static_cast<size_t>(count));
}

uint64_t Xxh64::digest() const {
  uint64_t hash = seed_ + kPrime5;
  if (total_ >= 32) {
    hash = rotate(lanes_[0], 1) + rotate(lanes_[1], 7) + rotate(lanes_[2], 12) + rotate(lanes_[3], 18);
    for (uint64_t lane : lanes_) hash = merge(hash, lane);
  }
  hash += total_;
  const uint8_t* p = rest_;
  const uint8_t* end = rest_ + total_ % 32;
  for (; end - p >= 8; p += 8) hash = rotate(hash ^ round(0, read_u64(p)), 27) * kPrime1 + kPrime4;
  if (end - p >= 4) {
    hash = rotate(hash ^ read_u32(p) * kPrime1, 23) * kPrime2 + kPrime3;
    p += 4;
  }
  for (; p < end; ++p) hash = rotate(hash ^ *p * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace heed
