// Add: out = a + b, two values of one shape.
// SPDX-License-Identifier: Apache-2.0
#include "ops/rows.h"

namespace heed {

const Op kAddOp = {schema::OpKind::Add, "Add", 0, true, check_two_alike,
                   nullptr, nullptr, 1, tiles_of_rows, tile_two_alike<&Kernels::add>, nullptr};

}  // namespace heed
