// Includes every public header as C++.
// SPDX-License-Identifier: Apache-2.0
#include "heed/heed.hpp"
#include "heed_host.h"

int heed_alignment_in_cpp() { return static_cast<int>(HEED_ALIGNMENT); }
