// L2Normalize: each row becomes row / sqrt(sum of row^2), zeros stay.
// SPDX-License-Identifier: Apache-2.0
#include "ops/rows.h"

namespace heed {

const Op kL2NormalizeOp = {schema::OpKind::L2Normalize, "L2Normalize", 0, true, check_same_shape,
                           nullptr, nullptr, 1, tiles_of_rows, tile_each_row<&Kernels::l2_normalize_rows>, nullptr};

}  // namespace heed
