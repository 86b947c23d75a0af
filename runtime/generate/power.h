// Powers of lengths, which a search compares hypotheses by, in exact float arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace heed {

// count^exponent, count from 1 to 2^20, |exponent| at most 4. Exact for exponents 0 and 1; relative error 5e-6 else.
float power(uint32_t count, float exponent);

}  // namespace heed
