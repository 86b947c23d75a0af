// Softmax: each row becomes softmax(row).
// SPDX-License-Identifier: Apache-2.0
#include "ops/rows.h"

namespace heed {

const Op kSoftmaxOp = {schema::OpKind::Softmax, "Softmax", 0, true, check_same_shape,
                       nullptr, nullptr, 1, tiles_of_rows, tile_each_row<&Kernels::softmax_rows>, nullptr};

}  // namespace heed
