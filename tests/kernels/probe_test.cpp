// The processor probe, fed with register values, and the choice of a kernel table.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/probe.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#if defined(__linux__)
#include <sched.h>
#endif

#include "heed/heed.h"
#include "kernels/kernels.h"

namespace heed {
namespace {

// A processor with everything that heed uses, whose operating system saves all registers.
CpuRegisters everything() {
  CpuRegisters registers;
  registers.leaf1_ecx = 1u << 0 | 1u << 9 | 1u << 19 | 1u << 20 | 1u << 23 | 1u << 27 | 1u << 28 | 1u << 29;
  registers.leaf7_ebx = 1u << 5 | 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
  registers.leaf7_ecx = 1u << 11;
  registers.leaf7_1_eax = 1u << 4;
  registers.leaf7_edx = 1u << 24 | 1u << 25;
  registers.xcr0 = 0x600e7;
  registers.permitted = 0x60000;
  return registers;
}

std::string names(const CpuRegisters& registers) {
  std::string names;
#define HEED_ISA(name, family) \
  if (runs_##name(registers)) names += #name " ";
#include "kernels/isa_list.inc"
#undef HEED_ISA
  return names;
}

bool same(const CpuRegisters& a, const CpuRegisters& b) {
  return a.leaf1_ecx == b.leaf1_ecx && a.leaf7_ebx == b.leaf7_ebx && a.leaf7_ecx == b.leaf7_ecx &&
         a.leaf7_edx == b.leaf7_edx && a.leaf7_1_eax == b.leaf7_1_eax && a.xcr0 == b.xcr0 && a.permitted == b.permitted;
}

}  // namespace

TEST_CASE("a processor that has everything runs everything") {
  CHECK(names(everything()) == "amx avx512vnni avxvnni avx2 ref ");
  CHECK(names(CpuRegisters()) == "ref ");
}

TEST_CASE("on 64-bit ARM NEON is given, and what a kernel does not report is not used") {
  CpuRegisters registers;
  registers.hwcap = 1u << 1;  // all that read_cpu_registers leaves of a kernel that reports nothing
  CHECK(names(registers) == "neon ref ");
  registers.hwcap2 = 1u << 13;  // i8mm, whose single rows need dot products
  CHECK(names(registers) == "neon ref ");
  registers.hwcap |= 1u << 20;
  CHECK(names(registers) == "i8mm dotprod neon ref ");
  registers.hwcap2 = 0;
  CHECK(names(registers) == "dotprod neon ref ");
#if defined(__aarch64__)
  CHECK((read_cpu_registers().hwcap & 1u << 1) != 0);
#endif
}

TEST_CASE("on 32-bit ARM NEON is used where the kernel reports it") {
  CpuRegisters registers;
  registers.hwcap_arm32 = ~(uint64_t{1} << 12);
  CHECK(names(registers) == "ref ");
  registers.hwcap_arm32 = 1u << 12;
  CHECK(names(registers) == "armv7 ref ");
}

TEST_CASE("instructions whose registers the operating system does not save are not used (ARM-08)") {
  CpuRegisters registers = everything();
  SECTION("only ymm: bits 1 and 2") {
    registers.xcr0 = 0x7;
    CHECK(names(registers) == "avxvnni avx2 ref ");
  }
  SECTION("any of the three zmm bits clear") {
    for (const int bit : {5, 6, 7}) {
      registers.xcr0 = 0xe7 & ~(1u << bit);
      CHECK(names(registers) == "avxvnni avx2 ref ");
    }
  }
  SECTION("zmm without ymm, or ymm without xmm") {
    for (const int bit : {1, 2}) {
      registers.xcr0 = 0xe7 & ~(1u << bit);
      CHECK(names(registers) == "ref ");
    }
  }
  SECTION("OSXSAVE clear: what XGETBV would say does not count") {
    registers.leaf1_ecx &= ~(1u << 27);
    CHECK(names(registers) == "ref ");
  }
}

TEST_CASE("AMX needs its bits, its registers saved, and the process's permission") {
  for (const int bit : {24, 25}) {
    CpuRegisters registers = everything();
    registers.leaf7_edx &= ~(1u << bit);
    CHECK(names(registers) == "avx512vnni avxvnni avx2 ref ");
  }
  for (const int bit : {17, 18}) {
    CpuRegisters registers = everything();
    registers.xcr0 &= ~(uint64_t{1} << bit);
    CHECK(names(registers) == "avx512vnni avxvnni avx2 ref ");
  }
  CpuRegisters not_permitted = everything();
  not_permitted.permitted = 0;
  CHECK(names(not_permitted) == "avx512vnni avxvnni avx2 ref ");
}

TEST_CASE("every feature bit that the code was compiled for is asked") {
  for (const int bit : {0, 9, 19, 20, 23, 28, 29}) {
    CpuRegisters registers = everything();
    registers.leaf1_ecx &= ~(1u << bit);
    CHECK(names(registers) == "ref ");
  }
  CpuRegisters no_avx2 = everything();
  no_avx2.leaf7_ebx &= ~(1u << 5);
  CHECK(names(no_avx2) == "ref ");
  for (const int bit : {16, 17, 28, 30, 31}) {
    CpuRegisters registers = everything();
    registers.leaf7_ebx &= ~(1u << bit);
    CHECK(names(registers) == "avxvnni avx2 ref ");
  }
  CpuRegisters no_avx512_vnni = everything();
  no_avx512_vnni.leaf7_ecx = ~(1u << 11);
  CHECK(names(no_avx512_vnni) == "avxvnni avx2 ref ");
  CpuRegisters no_avx_vnni = everything();
  no_avx_vnni.leaf7_1_eax = ~(1u << 4);
  CHECK(names(no_avx_vnni) == "amx avx512vnni avx2 ref ");
}

#if defined(__linux__)
TEST_CASE("the answer is the same on every core and from every thread (ARM-07)") {
  const CpuRegisters here = read_cpu_registers();
  const Kernels* kernels = find_kernels(nullptr);
  std::atomic<int> differences{0};
  std::vector<std::thread> threads;
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    threads.emplace_back([&, core] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      if (sched_setaffinity(0, sizeof(one), &one) != 0) return;
      for (int i = 0; i < 20; ++i) differences += !same(read_cpu_registers(), here) || find_kernels(nullptr) != kernels;
    });
  }
  REQUIRE(!threads.empty());
  for (std::thread& thread : threads) thread.join();
  CHECK(differences == 0);
}
#endif

#if defined(__x86_64__)
TEST_CASE("the probe agrees with the compiler's") {
  const CpuRegisters here = read_cpu_registers();
  CHECK(runs_avx2(here) == (__builtin_cpu_supports("avx2") && (here.leaf1_ecx >> 29 & 1)));
  CHECK(runs_avx512vnni(here) == (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
                                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")));
}
#endif

TEST_CASE("tables are found by name, and the best that runs without one") {
  const Kernels* best = find_kernels(nullptr);
  REQUIRE(best);
  for (uint32_t i = 0; i < kIsaCount; ++i) {
    const Kernels* table = isa_table(i);
    CHECK(find_kernels(isa_name(i)) == (table && isa_runs(i) ? table : nullptr));
    if (table) CHECK(std::strcmp(table->isa, isa_name(i)) == 0);
    if (table == best) break;
    CHECK((!table || !isa_runs(i)));
  }
  CHECK(find_kernels("") == nullptr);
  CHECK(find_kernels("avx") == nullptr);
  CHECK(find_kernels("avx5120") == nullptr);
  CHECK(isa_table(kIsaCount) == nullptr);
  CHECK(isa_name(kIsaCount) == nullptr);
  CHECK(!isa_runs(kIsaCount));
}

TEST_CASE("heed_isa_at lists what is built, best first") {
  uint32_t count = 0;
  int32_t runs = -1;
  const char* best = nullptr;
  for (; const char* name = heed_isa_at(count, &runs); ++count) {
    CHECK((runs == 0 || runs == 1));
    if (!best && runs) best = name;
    CHECK(runs == (find_kernels(name) != nullptr));
  }
  REQUIRE(count >= 1);
  CHECK(heed_isa_at(count - 1, nullptr) == std::string("ref"));
  CHECK(heed_isa_at(count, &runs) == nullptr);
  CHECK(runs == 0);
  CHECK(heed_isa_at(UINT32_MAX, nullptr) == nullptr);
  CHECK(best == std::string(find_kernels(nullptr)->isa));
  heed_session session = {};
  CHECK(heed_session_isa(nullptr) == nullptr);
  CHECK(heed_session_isa(&session) == nullptr);
  session.kernels = find_kernels("ref");
  CHECK(heed_session_isa(&session) == std::string("ref"));
}

}  // namespace heed
