// The logarithms that a search needs, in exact float arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace heed {

// ln of the sum of e^x over x[0 .. count), count at least 1: greatest + ln 2 * log2(sum of 2^((x - greatest) * log2 e)), the
// sum in 16 lanes. Error 3e-7 of max(1, |result|). Not a number if some x is none, or infinite.
float log_sum(const float* x, uint32_t count);

// count^exponent, count from 1 to 2^20, |exponent| at most 4. Exact for exponents 0 and 1; relative error 5e-6 else.
float power(uint32_t count, float exponent);

}  // namespace heed
