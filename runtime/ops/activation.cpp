// Activation: out = activation(in), element by element.
// SPDX-License-Identifier: Apache-2.0
#include "ops/rows.h"

namespace heed {
namespace {

void tile(const Step& step, uint32_t, uint32_t index, uint8_t*) {
  const RowRange range = tile_of_rows(step, index);
  const auto function = static_cast<ActivationFunction>(step.node.activation());
  for (uint32_t r = range.begin; r < range.begin + range.count; ++r) {
    step.kernels.activate({step.in[0].row(r), step.in[0].features, function, step.out[0].row(r)});
  }
}

}  // namespace

const Op kActivationOp = {schema::OpKind::Activation,
                          "Activation",
                          attributes(Attribute::activation),
                          true,
                          check_same_shape,
                          nullptr,
                          nullptr,
                          1,
                          tiles_of_rows,
                          tile,
                          nullptr};

}  // namespace heed
