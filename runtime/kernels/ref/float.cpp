// Float kernels for every processor: the definition that all others give the same bits as.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"

#include "kernels/simd/all.h"
#include "kernels/simd/lanes_scalar.h"
#include "kernels/tables.h"

namespace heed::ref {

#define HEED_FLOAT_KERNELS
#define HEED_KERNEL(name, Arguments) \
  void name(const Arguments& args) { simd::name<simd::ScalarLanes>(args); }
#include "kernels/kernel_list.inc"

}  // namespace heed::ref
