// The processor probe: CPUID and XGETBV, or what Linux tells of an ARM processor, and what they mean.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/probe.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__) && (defined(__aarch64__) || defined(__arm__))
#include <sys/auxv.h>
#endif

namespace heed {
namespace {

constexpr uint32_t bit(int i) { return uint32_t{1} << i; }
constexpr bool has(uint64_t value, uint64_t bits) { return (value & bits) == bits; }

// CPUID leaf 1, ecx.
constexpr uint32_t kOsXsave = bit(27);
constexpr uint32_t kUpToAvx = bit(0) | bit(9) | bit(19) | bit(20) | bit(23) | bit(28);  // SSE3 .. SSE4.2, POPCNT, AVX
constexpr uint32_t kF16c = bit(29);
// Leaf 7, ebx and ecx.
constexpr uint32_t kAvx2 = bit(5);
constexpr uint32_t kAvx512 = bit(16) | bit(17) | bit(28) | bit(30) | bit(31);  // F, DQ, CD, BW, VL
constexpr uint32_t kAvx512Vnni = bit(11);
// Leaf 7, edx.
constexpr uint32_t kAmx = bit(24) | bit(25);  // tiles, int8
// Leaf 7, subleaf 1, eax.
constexpr uint32_t kAvxVnni = bit(4);
// XCR0: what is saved when a thread is interrupted.
constexpr uint64_t kSavesYmm = bit(1) | bit(2);
constexpr uint64_t kSavesZmm = kSavesYmm | bit(5) | bit(6) | bit(7);
constexpr uint64_t kTileConfig = bit(17);
constexpr uint64_t kTileData = bit(18);

// aarch64 hwcap and hwcap2; 32-bit ARM's hwcap.
constexpr uint64_t kAsimd = bit(1);
constexpr uint64_t kDotProduct = bit(20);
constexpr uint64_t kI8mm = bit(13);
constexpr uint64_t kNeon = bit(12);

// Without OSXSAVE the operating system saves none of them, and XGETBV is an illegal instruction.
bool saves(const CpuRegisters& registers, uint64_t what) {
  return has(registers.leaf1_ecx, kOsXsave) && has(registers.xcr0, what);
}

}  // namespace

#if defined(__x86_64__)

namespace {

// Asks the system, and changes nothing. The call is made by hand: the runtime links no system library.
uint64_t permitted_registers() {
#if defined(__linux__)
  constexpr long kArchPrctl = 158;
  constexpr long kGetPermission = 0x1022;
  uint64_t permitted = 0;
  long result = kArchPrctl;
  asm volatile("syscall" : "+a"(result) : "D"(kGetPermission), "S"(&permitted) : "rcx", "r11", "memory");
  return result == 0 ? permitted : 0;
#else
  return 0;
#endif
}

}  // namespace

CpuRegisters read_cpu_registers() {
  CpuRegisters registers;
  uint32_t eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) registers.leaf1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    registers.leaf7_ebx = ebx;
    registers.leaf7_ecx = ecx;
    registers.leaf7_edx = edx;
    const uint32_t last_subleaf = eax;
    if (last_subleaf >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) registers.leaf7_1_eax = eax;
  }
  if (has(registers.leaf1_ecx, kOsXsave)) {
    uint32_t low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    registers.xcr0 = uint64_t{high} << 32 | low;
  }
  if (has(registers.leaf7_edx, kAmx)) registers.permitted = permitted_registers();
  return registers;
}

#elif defined(__aarch64__)

CpuRegisters read_cpu_registers() {
  CpuRegisters registers;
#if defined(__linux__)
  registers.hwcap = getauxval(AT_HWCAP);
  registers.hwcap2 = getauxval(AT_HWCAP2);
#endif
  registers.hwcap |= kAsimd;
  return registers;
}

#elif defined(__linux__) && defined(__arm__)

CpuRegisters read_cpu_registers() {
  CpuRegisters registers;
  registers.hwcap_arm32 = getauxval(AT_HWCAP);
  return registers;
}

#else

CpuRegisters read_cpu_registers() { return {}; }

#endif

bool runs_ref(const CpuRegisters&) { return true; }

bool runs_avx2(const CpuRegisters& registers) {
  return saves(registers, kSavesYmm) && has(registers.leaf1_ecx, kUpToAvx | kF16c) && has(registers.leaf7_ebx, kAvx2);
}

bool runs_avxvnni(const CpuRegisters& registers) {
  return runs_avx2(registers) && has(registers.leaf7_1_eax, kAvxVnni);
}

bool runs_avx512vnni(const CpuRegisters& registers) {
  return runs_avx2(registers) && saves(registers, kSavesZmm) && has(registers.leaf7_ebx, kAvx512) &&
         has(registers.leaf7_ecx, kAvx512Vnni);
}

bool runs_amx(const CpuRegisters& registers) {
  return runs_avx512vnni(registers) && saves(registers, kTileConfig | kTileData) && has(registers.leaf7_edx, kAmx) &&
         has(registers.permitted, kTileData);
}

bool runs_neon(const CpuRegisters& registers) { return has(registers.hwcap, kAsimd); }

bool runs_dotprod(const CpuRegisters& registers) { return has(registers.hwcap, kAsimd | kDotProduct); }

bool runs_i8mm(const CpuRegisters& registers) { return runs_dotprod(registers) && has(registers.hwcap2, kI8mm); }

bool runs_armv7(const CpuRegisters& registers) { return has(registers.hwcap_arm32, kNeon); }

}  // namespace heed
