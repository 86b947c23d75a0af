// Every kernel of every instruction set, declared: what kernels.cpp puts into tables and the ISA files define.
// SPDX-License-Identifier: Apache-2.0
//
// ref, avx2, avx512vnni, neon and armv7 have all kernels (ref in kernels/ref; the others in kernels/simd, multiply_i8 in
// kernels/int8); the rest have multiply_i8 only and are one of these otherwise. Declared for every build, whatever is built:
// a declaration costs nothing, and a definition without one would be local to its file.
#pragma once
#include "kernels/kernels.h"

// One function for each kernel.
#define HEED_KERNEL(name, Arguments) void name(const Arguments& args);

namespace heed::ref {
#include "kernels/kernel_list.inc"
}

namespace heed::avx2 {
#include "kernels/kernel_list.inc"
}

namespace heed::avxvnni {
void multiply_i8(const MultiplyI8& args);
}

// amx is avx512vnni otherwise.
namespace heed::amx {
void enter();
void leave();
void multiply_i8(const MultiplyI8& args);
}

namespace heed::avx512vnni {
#include "kernels/kernel_list.inc"
}

namespace heed::neon {
#include "kernels/kernel_list.inc"
}

// dotprod and i8mm are neon otherwise.
namespace heed::dotprod {
void multiply_i8(const MultiplyI8& args);
}
namespace heed::i8mm {
void multiply_i8(const MultiplyI8& args);
}

namespace heed::armv7 {
#include "kernels/kernel_list.inc"
}

#undef HEED_KERNEL
