# 32-bit ARM boards with Linux and hardware floats. HEED_ARM is what every processor that runs the program has:
#   neon (default)  all with NEON, also Cortex-A8 and A9: BeagleBone Black, i.MX 6, Zynq 7000
#   neon-vfpv4      Cortex-A5, A7, A15, A17: Raspberry Pi 2, i.MX 6UL and 7, STM32MP1. heed itself gains nothing by it: what
#                   VFPv4 adds is the fused multiply-add, which would change the bits
#   vfpv3-d16       ARMv7 without NEON: Tegra 2, Armada; there, the portable kernels run
# ARMv6 has a file of its own, arm-linux-gnueabi.cmake.
# SPDX-License-Identifier: Apache-2.0
set(HEED_ARM neon CACHE STRING "neon, neon-vfpv4 or vfpv3-d16")
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(HEED_TRIPLE arm-linux-gnueabihf)
set(HEED_QEMU qemu-arm)
set(HEED_FLAGS "-march=armv7-a -mfpu=${HEED_ARM} -mfloat-abi=hard -Wno-psabi")
include("${CMAKE_CURRENT_LIST_DIR}/linux.cmake")
