// Include this first in every source file that computes with floats: it makes the compiler keep to the source.
// SPDX-License-Identifier: Apache-2.0
//
// The bits of a result are a promise, so a product may not be fused with the sum that follows, and nothing may be
// reordered. GCC fuses by default and ignores STDC FP_CONTRACT in C++; it obeys `optimize`, which has to come before
// the intrinsics' headers. Clang obeys its own pragma.
#pragma once

#if defined(__FAST_MATH__) || defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "heed gives the same bits everywhere and cannot be compiled with -ffast-math, -Ofast or -ffinite-math-only"
#endif
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#include <cfloat>
#if FLT_EVAL_METHOD != 0
#error "heed needs float arithmetic in float precision (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif
