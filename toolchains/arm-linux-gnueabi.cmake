# ARMv6 boards with Linux, such as Raspberry Pi 1 and Zero: the portable kernels, floats in the VFP unit, the soft calling convention.
# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_PROCESSOR armv6l)
set(HEED_TRIPLE arm-linux-gnueabi)
set(HEED_QEMU qemu-arm)
set(HEED_FLAGS "-march=armv6 -marm -mfpu=vfp -mfloat-abi=softfp -Wno-psabi")
include("${CMAKE_CURRENT_LIST_DIR}/linux.cmake")
