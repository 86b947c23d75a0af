// What this processor and its operating system can run, asked of the processor itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace heed {

// Registers that tell what a processor has; all zero on processors that have no such registers.
struct CpuRegisters {
  // x86: CPUID leaf 1; leaf 7 subleaves 0 and 1, zero where a leaf does not exist.
  uint32_t leaf1_ecx = 0;
  uint32_t leaf7_ebx = 0;
  uint32_t leaf7_ecx = 0;
  uint32_t leaf7_edx = 0;
  uint32_t leaf7_1_eax = 0;
  // x86: which registers the operating system saves (XGETBV 0). Means nothing unless leaf 1 says OSXSAVE.
  uint64_t xcr0 = 0;
  // Linux on x86: the large registers that this process has been allowed to use, in XCR0's bits. A process asks once
  // (arch_prctl ARCH_REQ_XCOMP_PERM; platforms/host does); without it AMX's tiles are an illegal instruction.
  uint64_t permitted = 0;
  // aarch64: AT_HWCAP and AT_HWCAP2 as Linux gives them. NEON is part of the architecture and counts as given, whatever
  // a kernel reports or fails to.
  uint64_t hwcap = 0;
  uint64_t hwcap2 = 0;
  // 32-bit ARM: AT_HWCAP, whose bits mean other things.
  uint64_t hwcap_arm32 = 0;
};

// Asks the processor that this thread runs on. Keeps nothing, so any thread may call it at any time.
CpuRegisters read_cpu_registers();

// Whether a processor with these registers runs the instruction set: one function for each line of isa_list.inc.
#define HEED_ISA(name, family) bool runs_##name(const CpuRegisters& registers);
#include "kernels/isa_list.inc"
#undef HEED_ISA

}  // namespace heed
