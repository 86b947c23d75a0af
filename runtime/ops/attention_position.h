// What attention adds to a score for how far key and query are apart.
// SPDX-License-Identifier: Apache-2.0
//
// t5: one number for each bucket of distances and head (position_weight, [buckets, heads]). A distance is key - query.
// One-sided: keys behind the query count as distance 0. Two-sided: they have the second half of the buckets. Of the b buckets
// of a side the first b / 2 are distances of their own; the others share the distances up to position_max_distance evenly
// by logarithm, and the last one takes all beyond.
#pragma once
#include "ops/block.h"

namespace heed {

constexpr uint32_t kMaxBuckets = 128;  // so that powers of distances stay doubles
constexpr uint32_t kBiasRows = 16;

heed_status check_position(const PlanStep& step);

// Bias of a block of rows and a tile of keys, for one worker.
class PositionBias {
 public:
  PositionBias() = default;
  // `table` is position_weight. Takes nothing if the node has no position_kind.
  PositionBias(Carver& carver, const schema::Node& node, const WeightView& table);
  bool present() const { return heads_ > 0; }

  // Reads the table; before any `fill`.
  void start(const Step& step);
  // [rows, 64] times log2 e, for rows at places place .. and keys first_key .. of the sequence.
  const float* fill(uint32_t head, int64_t place, uint32_t rows, uint32_t first_key);

 private:
  uint32_t bucket_of(int64_t distance) const;

  uint32_t heads_ = 0;
  uint32_t side_ = 0;          // buckets of one side
  bool two_sided_ = false;
  float* values_ = nullptr;    // [buckets, heads] times log2 e
  uint32_t* starts_ = nullptr; // [side_] least distance of each bucket
  float* line_ = nullptr;      // bias of each distance that a block and a tile meet
  float* bias_ = nullptr;
};

}  // namespace heed
