// Norm: weight = gain [features] and shift, norm_kind, epsilon. One input of any shape.
// SPDX-License-Identifier: Apache-2.0
#include "ops/norms.h"

namespace heed {
namespace {

heed_status check(const PlanStep& step, Shape* out) {
  if (heed_status s = check_same_shape(step, out)) return s;
  if (step.node.weight() < 0) return refuse(step.diagnostic, HEED_BAD_GRAPH, "weight missing");
  return check_norm(step, step.node.weight(), out[0].features, "weight of a norm");
}

void tile(const Step& step, uint32_t, uint32_t index, uint8_t*) {
  const RowRange range = tile_of_rows(step, index);
  const Tensor& in = step.in[0];
  const Tensor& out = step.out[0];
  normalize(step, step.node.weight(), {in.row(range.begin), in.stride, range.count}, out.row(range.begin), out.stride);
}

}  // namespace

using A = Attribute;
const Op kNormOp = {schema::OpKind::Norm,
                    "Norm",
                    attributes(A::weight, A::norm_kind, A::epsilon),
                    true,
                    check,
                    nullptr,
                    nullptr,
                    1,
                    tiles_of_rows,
                    tile,
                    nullptr};

}  // namespace heed
