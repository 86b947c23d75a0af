// SPDX-License-Identifier: Apache-2.0
#include "cli/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "error.h"

namespace heed::tools {
namespace {

constexpr uint32_t kSteps = 100000;

// A loop of `kSteps` steps, each of which does `multiply_adds`.
struct Loop {
  void (*run)();
  double multiply_adds;
};

#if defined(__x86_64__)
// Written as assembly so that no flag is needed to compile it and nothing is moved between the products. Twelve
// accumulators (\n is 0 .. 11) hide five cycles of latency at two products a cycle; 12 .. 15 hold operands.
#define HEED_PEAK_LOOP(name, step, end)                                                                               \
  void name() {                                                                                                       \
    uint64_t steps = kSteps;                                                                                          \
    asm volatile("1:\n\t.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n\t" step "\n\t.endr\n\tdec %0\n\tjnz 1b\n\t" end\
                 : "+r"(steps)                                                                                        \
                 :                                                                                                    \
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",     \
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                                                      \
  }
HEED_PEAK_LOOP(loop_avx512vnni, "vpdpbusd %%zmm15, %%zmm14, %%zmm\\n", "vzeroupper")
HEED_PEAK_LOOP(loop_avxvnni, "%{vex%} vpdpbusd %%ymm15, %%ymm14, %%ymm\\n", "vzeroupper")
// The two exact ways of AVX2: products of |a| and sign(w, a), or of both operands widened to 16 bits.
HEED_PEAK_LOOP(loop_avx2_sign, "vpsignb %%ymm15, %%ymm14, %%ymm13\n\tvpmaddubsw %%ymm13, %%ymm14, %%ymm13\n\t"
                               "vpmaddwd %%ymm12, %%ymm13, %%ymm13\n\tvpaddd %%ymm13, %%ymm\\n, %%ymm\\n", "vzeroupper")
HEED_PEAK_LOOP(loop_avx2_wide, "vpmaddwd %%ymm15, %%ymm14, %%ymm13\n\tvpaddd %%ymm13, %%ymm\\n, %%ymm\\n", "vzeroupper")
// Tiles: four sums in flight hide the latency. The configuration is what runtime/kernels/int8/amx.cpp uses.
void loop_amx() {
  alignas(64) uint8_t config[64] = {1};
  for (int i = 0; i < 8; ++i) {
    config[16 + 2 * i] = 64;
    config[48 + i] = 16;
  }
  uint64_t steps = kSteps;
  asm volatile(
      "ldtilecfg %1\n\t"
      "1:\n\ttdpbusd %%tmm7, %%tmm6, %%tmm0\n\ttdpbusd %%tmm7, %%tmm6, %%tmm1\n\t"
      "tdpbusd %%tmm7, %%tmm6, %%tmm2\n\ttdpbusd %%tmm7, %%tmm6, %%tmm3\n\tdec %0\n\tjnz 1b\n\ttilerelease"
      : "+r"(steps)
      : "m"(config)
      : "cc");
}
// What every x86-64 has, and so what a compiler may make of the portable kernels.
HEED_PEAK_LOOP(loop_sse2, "movdqa %%xmm14, %%xmm13\n\tpmaddwd %%xmm15, %%xmm13\n\tpaddd %%xmm13, %%xmm\\n", "")
#endif

// Eight chains of scalar products; the empty assembly keeps them from being combined.
void loop_scalar() {
  int32_t sums[8] = {};
  int32_t a = 3;
  for (uint32_t step = 0; step < kSteps; ++step) {
    for (int32_t& sum : sums) {
      asm volatile("" : "+r"(a), "+r"(sum));
      sum += a * a;
    }
  }
}

double rate(const Loop& loop) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(100);
  double best_seconds = 1;
  while (Clock::now() < end) {
    const Clock::time_point start = Clock::now();
    loop.run();
    best_seconds = std::min(best_seconds, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return kSteps * loop.multiply_adds / best_seconds * 1e-9;
}

}  // namespace

double int8_peak_gmac_per_s(const std::string& isa) {
#if defined(__x86_64__)
  if (isa == "amx") return rate({loop_amx, 4 * 16384});
  if (isa == "avx512vnni") return rate({loop_avx512vnni, 12 * 64});
  if (isa == "avxvnni") return rate({loop_avxvnni, 12 * 32});
  if (isa == "avx2") return std::max(rate({loop_avx2_sign, 12 * 32}), rate({loop_avx2_wide, 12 * 16}));
  if (isa == "ref") return rate({loop_sse2, 12 * 8});
#endif
  if (isa == "ref") return rate({loop_scalar, 8});
  throw Error("bench has no peak measurement for the instruction set '" + isa + "'");
}

}  // namespace heed::tools
