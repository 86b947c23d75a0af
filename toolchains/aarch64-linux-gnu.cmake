# 64-bit ARM boards with Linux: Raspberry Pi 3 and later, i.MX 8, Jetson, servers. One binary holds every instruction set.
# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(HEED_TRIPLE aarch64-linux-gnu)
set(HEED_QEMU qemu-aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/linux.cmake")
