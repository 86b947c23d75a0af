// How densely a test samples the floats. Emulators compute a double's functions slowly, and the bits that they have to find do not
// depend on the machine: with HEED_FEW_SAMPLES in the environment (tools/emulate without --full) every sixteenth will do.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstdlib>

namespace heed::tests {

// Odd, so that all bits of the samples change.
inline uint32_t sample_step(uint32_t step) { return std::getenv("HEED_FEW_SAMPLES") ? 16 * step + 1 : step; }

}  // namespace heed::tests
