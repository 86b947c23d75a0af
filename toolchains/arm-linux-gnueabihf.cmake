# 32-bit ARM boards with Linux and hardware floats. HEED_ARM is what every processor that runs the program has:
#   neon-vfpv4 (default)  Cortex-A5, A7, A15, A17 and 64-bit cores: Raspberry Pi 2, i.MX 6UL and 7, STM32MP1
#   neon                  Cortex-A8 and A9: BeagleBone Black, i.MX 6, Zynq 7000
#   vfpv3-d16             ARMv7 without NEON: Tegra 2, Armada; the portable kernels
# ARMv6 has a file of its own, arm-linux-gnueabi.cmake.
# SPDX-License-Identifier: Apache-2.0
set(HEED_ARM neon-vfpv4 CACHE STRING "neon-vfpv4, neon or vfpv3-d16")
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(HEED_TRIPLE arm-linux-gnueabihf)
set(HEED_QEMU qemu-arm)
set(HEED_FLAGS "-march=armv7-a -mfpu=${HEED_ARM} -mfloat-abi=hard -Wno-psabi")
include("${CMAKE_CURRENT_LIST_DIR}/linux.cmake")
