// How many int8 multiply-adds a second one core of this machine can do at most: what bench compares with.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace heed::tools {

// Runs the instruction set's own int8 products on registers alone, without loads or stores, for about a tenth of
// a second and answers the best rate seen, in 10^9 multiply-adds a second. Throws Error for an unknown name.
double int8_peak_gmac_per_s(const std::string& isa);

// Reads a block far larger than the caches, again and again for about a tenth of a second, on one thread: the best rate, in
// 10^9 bytes a second.
double read_peak_gb_per_s();

}  // namespace heed::tools
