// Every kernel of every instruction set, declared: what kernels.cpp puts into tables and the ISA files define.
// SPDX-License-Identifier: Apache-2.0
//
// ref, avx2 and avx512vnni have all kernels (ref in kernels/ref; the others in kernels/simd, multiply_i8 in
// kernels/int8); avxvnni has multiply_i8 only and is avx2 otherwise. Declared for every build, whatever is built:
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

#undef HEED_KERNEL
