// Float kernels for AVX2.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"

#include "kernels/simd/all.h"
#include "kernels/simd/lanes_avx2.h"
#include "kernels/tables.h"

namespace heed::avx2 {

#define HEED_FLOAT_KERNELS
#define HEED_KERNEL(name, Arguments) \
  void name(const Arguments& args) { simd::name<simd::Avx2Lanes>(args); }
#include "kernels/kernel_list.inc"

}  // namespace heed::avx2
