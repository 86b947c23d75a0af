// SPDX-License-Identifier: Apache-2.0
#include "cli/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "error.h"

namespace heed::tools {
namespace {

constexpr uint32_t kSteps = 100000;  // of a loop

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
// The two exact ways of AVX2: products of |a| and w, its bits turned over where a is negative, or of both operands widened
// to 16 bits.
HEED_PEAK_LOOP(loop_avx2_flip, "vpxor %%ymm15, %%ymm14, %%ymm13\n\tvpmaddubsw %%ymm13, %%ymm14, %%ymm13\n\t"
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
#elif defined(__aarch64__)
// Likewise: 24 accumulators, v0 .. v23, or 12 pairs of products that are added up.
#define HEED_PEAK_LOOP(name, extension, numbers, step)                                                                     \
  void name() {                                                                                                            \
    uint64_t steps = kSteps;                                                                                               \
    asm volatile(extension "\n1:\n\t.irp n, " numbers "\n\t" step "\n\t.endr\n\tsubs %0, %0, #1\n\tb.ne 1b"                 \
                 : "+r"(steps)                                                                                             \
                 :                                                                                                         \
                 : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",    \
                   "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v30", "v31"); \
  }
#define HEED_TWELVE "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"
#define HEED_TWENTY_FOUR HEED_TWELVE ", 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23"
HEED_PEAK_LOOP(loop_i8mm, ".arch armv8.2-a+i8mm", HEED_TWENTY_FOUR, "smmla v\\n\\().4s, v30.16b, v31.16b")
HEED_PEAK_LOOP(loop_dotprod, ".arch armv8.2-a+dotprod", HEED_TWENTY_FOUR, "sdot v\\n\\().4s, v30.16b, v31.16b")
HEED_PEAK_LOOP(loop_neon, "", HEED_TWELVE, "smull v24.8h, v30.8b, v31.8b\n\tsmlal2 v24.8h, v30.16b, v31.16b\n\tsadalp v\\n\\().4s, v24.8h")
#elif defined(__ARM_NEON)
void loop_armv7() {
  uint32_t steps = kSteps;
  asm volatile(
      "1:\n\t.irp n, 0, 1, 2, 3, 4, 5, 6, 7\n\tvmull.s8 q12, d28, d30\n\tvmlal.s8 q12, d29, d31\n\tvpadal.s16 q\\n, q12\n\t.endr\n\t"
      "subs %0, %0, #1\n\tbne 1b"
      : "+r"(steps)
      :
      : "cc", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q12", "q14", "q15");
}
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

using Loops = std::vector<Int8Peak::Loop>;

Loops loops_of(const std::string& isa) {
#if defined(__x86_64__)
  if (isa == "amx") return {{loop_amx, 4 * 16384}};
  if (isa == "avx512vnni") return {{loop_avx512vnni, 12 * 64}};
  if (isa == "avxvnni") return {{loop_avxvnni, 12 * 32}};
  if (isa == "avx2") return {{loop_avx2_flip, 12 * 32}, {loop_avx2_wide, 12 * 16}};
  if (isa == "ref") return {{loop_sse2, 12 * 8}};
#elif defined(__aarch64__)
  if (isa == "i8mm") return {{loop_i8mm, 24 * 32}};
  if (isa == "dotprod") return {{loop_dotprod, 24 * 16}};
  if (isa == "neon") return {{loop_neon, 12 * 16}};
#elif defined(__ARM_NEON)
  if (isa == "armv7") return {{loop_armv7, 8 * 16}};
#endif
  if (isa == "ref") return {{loop_scalar, 8}};
  throw Error("bench has no peak measurement for the instruction set '" + isa + "'");
}

}  // namespace

Int8Peak::Int8Peak(const std::string& isa) : loops_(loops_of(isa)) {}

void Int8Peak::sample() {
  using Clock = std::chrono::steady_clock;
  for (const Loop& loop : loops_) {
    const Clock::time_point start = Clock::now();
    loop.run();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best_ = std::max(best_, kSteps * loop.multiply_adds / seconds * 1e-9);
  }
}

double read_peak_gb_per_s() {
  using Clock = std::chrono::steady_clock;
  typedef uint64_t Line __attribute__((vector_size(64)));
  constexpr size_t kLines = size_t{1} << 20;  // 64 MiB
  const std::vector<Line> block(kLines, Line{1});
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(100);
  double best_seconds = 1;
  do {
    const Clock::time_point start = Clock::now();
    Line sum{};
    for (const Line& line : block) sum += line;
    asm volatile("" : : "m"(sum));
    best_seconds = std::min(best_seconds, std::chrono::duration<double>(Clock::now() - start).count());
  } while (Clock::now() < end);
  return kLines * sizeof(Line) / best_seconds * 1e-9;
}

}  // namespace heed::tools
