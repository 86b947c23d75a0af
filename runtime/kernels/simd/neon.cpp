// Float kernels for NEON on aarch64, which dotprod and i8mm use too.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"

#include "kernels/simd/all.h"
#include "kernels/simd/lanes_neon.h"
#include "kernels/tables.h"

namespace heed::neon {

#define HEED_FLOAT_KERNELS
#define HEED_KERNEL(name, Arguments) \
  void name(const Arguments& args) { simd::name<simd::NeonLanes>(args); }
#include "kernels/kernel_list.inc"

}  // namespace heed::neon
