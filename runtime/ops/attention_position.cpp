// T5's relative position buckets.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"
//
#include <cstring>

#include "ops/attention_position.h"

namespace heed {
namespace {

constexpr uint32_t kLine = kBiasRows + kKeyTile;

double power(double base, uint32_t exponent) {
  double out = 1;
  for (; exponent > 0; --exponent) out *= base;
  return out;
}

// The least distance of each bucket. Of the shared ones bucket exact + k begins at exact * (most / exact)^(k / shared):
// the least n with (n / exact)^shared >= (most / exact)^k. Both sides are sums of products of doubles, the same on every
// machine; where they are equal in exact numbers, rounding must not decide.
void find_starts(uint32_t side, uint32_t most, uint32_t* starts) {
  const uint32_t exact = side / 2;
  const uint32_t shared = side - exact;
  for (uint32_t b = 0; b <= exact; ++b) starts[b] = b;
  for (uint32_t k = 1; k < shared; ++k) {
    const double bound = power(static_cast<double>(most) / exact, k) * (1 - 1e-9);
    uint32_t low = exact;
    for (uint32_t high = most; low < high;) {
      const uint32_t middle = low + (high - low) / 2;
      if (power(static_cast<double>(middle) / exact, shared) >= bound) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    starts[exact + k] = low;
  }
}

}  // namespace

heed_status check_position(const PlanStep& step) {
  const schema::Node& node = step.node;
  if (node.position_kind() == schema::PositionKind::none) {
    const bool bare = node.position_weight() < 0 && !node.position_two_sided() && node.position_max_distance() == 128;
    return bare ? HEED_OK : refuse(step.diagnostic, HEED_BAD_GRAPH, "position attributes without position_kind");
  }
  if (node.position_kind() != schema::PositionKind::t5) return refuse(step.diagnostic, HEED_UNSUPPORTED, "position_kind");
  if (node.position_weight() < 0) return refuse(step.diagnostic, HEED_BAD_GRAPH, "position_weight");
  const WeightView table = weight_view(step.model, node.position_weight());
  step.diagnostic->weight = node.position_weight();
  if (table.layout != schema::Layout::rows || table.bias != nullptr || table.input_scale != nullptr ||
      table.format > schema::Format::f16) {
    return refuse(step.diagnostic, HEED_UNSUPPORTED, "position_weight");
  }
  if (heed_status s = expect_features(step, "position_weight", table.cols, node.heads())) return s;
  const uint32_t sides = node.position_two_sided() ? 2 : 1;
  if (table.rows % sides != 0 || table.rows < 2 * sides || table.rows > kMaxBuckets) {
    return refuse(step.diagnostic, HEED_BAD_SHAPE, "buckets of position_weight", table.rows, kMaxBuckets);
  }
  step.diagnostic->weight = -1;
  const uint32_t exact = table.rows / sides / 2;
  if (node.position_max_distance() <= exact || node.position_max_distance() > 1u << 20) {
    return refuse(step.diagnostic, HEED_BAD_SHAPE, "position_max_distance", node.position_max_distance(), exact + 1);
  }
  return HEED_OK;
}

PositionBias::PositionBias(Carver& carver, const schema::Node& node, const WeightView& table)
    : two_sided_(node.position_two_sided()) {
  if (node.position_kind() == schema::PositionKind::none) return;
  heads_ = table.cols;
  side_ = table.rows / (two_sided_ ? 2 : 1);
  values_ = carver.take<float>(uint64_t{table.rows} * heads_);
  starts_ = carver.take<uint32_t>(side_);
  line_ = carver.take<float>(kLine);
  bias_ = carver.take<float>(kBiasRows * kKeyTile);
}

void PositionBias::start(const Step& step) {
  if (!present()) return;
  const WeightView table = weight_view(step.model, step.node.position_weight());
  const bool half = table.format == schema::Format::f16;
  for (uint32_t b = 0; b < table.rows; ++b) {
    const uint64_t bytes = uint64_t{b} * heads_ * (half ? sizeof(uint16_t) : sizeof(float));
    step.kernels.look_up_row({static_cast<const uint8_t*>(table.data) + bytes, half ? ElementFormat::kF16 : ElementFormat::kF32,
                              heads_, kLog2E, false, values_ + b * heads_});
  }
  find_starts(side_, step.node.position_max_distance(), starts_);
}

uint32_t PositionBias::bucket_of(int64_t distance) const {
  const bool behind = distance > 0;
  const int64_t far = behind ? (two_sided_ ? distance : 0) : -distance;
  uint32_t bucket = side_ - 1;
  while (far < starts_[bucket]) --bucket;
  return bucket + (behind && two_sided_ ? side_ : 0);
}

const float* PositionBias::fill(uint32_t head, int64_t place, uint32_t rows, uint32_t first_key) {
  if (!present()) return nullptr;
  const int64_t least = first_key - (place + rows - 1);
  for (uint32_t i = 0; i < rows - 1 + kKeyTile; ++i) line_[i] = values_[bucket_of(least + i) * heads_ + head];
  for (uint32_t r = 0; r < rows; ++r) std::memcpy(bias_ + r * kKeyTile, line_ + rows - 1 - r, kKeyTile * sizeof(float));
  return bias_;
}

}  // namespace heed
