// Float kernels for NEON on 32-bit ARM.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"

#include "kernels/simd/all.h"
#include "kernels/simd/lanes_armv7.h"
#include "kernels/tables.h"

namespace heed::armv7 {

#define HEED_FLOAT_KERNELS
#define HEED_KERNEL(name, Arguments) \
  void name(const Arguments& args) { simd::name<simd::Armv7Lanes>(args); }
#include "kernels/kernel_list.inc"

}  // namespace heed::armv7
