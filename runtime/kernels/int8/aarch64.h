// What the products of aarch64 share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arm_neon.h>

#include "kernels/tables.h"

namespace heed::aarch64 {

// 32 bytes of weights, in the order of the source.
__attribute__((always_inline)) inline void load_weights(int8x16_t& w0, int8x16_t& w1, const int8_t* w, int offset) {
  asm volatile("ldp %q0, %q1, [%2, %3]" : "=&w"(w0), "=&w"(w1) : "r"(w), "i"(offset) : "memory");
}

}  // namespace heed::aarch64
