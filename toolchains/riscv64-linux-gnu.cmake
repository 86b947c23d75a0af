# 64-bit RISC-V boards with Linux (rv64gc): the portable kernels.
# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(HEED_TRIPLE riscv64-linux-gnu)
set(HEED_QEMU qemu-riscv64)
include("${CMAKE_CURRENT_LIST_DIR}/linux.cmake")
