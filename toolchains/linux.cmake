# What the files for Linux on other processors share. They name HEED_TRIPLE (GCC's), HEED_QEMU (the emulator of QEMU) and,
# where they want any, HEED_FLAGS. With -D HEED_CLANG=clang-19, or another version, that compiles instead of GCC.
# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_NAME Linux)
set(HEED_CLANG "" CACHE STRING "The clang that compiles for the target; empty: GCC")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HEED_CLANG HEED_ARM)
if(HEED_CLANG)
  string(REPLACE "clang" "clang++" _heed_clangxx "${HEED_CLANG}")
  set(CMAKE_C_COMPILER "${HEED_CLANG}")
  set(CMAKE_CXX_COMPILER "${_heed_clangxx}")
  set(CMAKE_C_COMPILER_TARGET "${HEED_TRIPLE}")
  set(CMAKE_CXX_COMPILER_TARGET "${HEED_TRIPLE}")
else()
  set(CMAKE_C_COMPILER "${HEED_TRIPLE}-gcc")
  set(CMAKE_CXX_COMPILER "${HEED_TRIPLE}-g++")
endif()
set(CMAKE_C_FLAGS_INIT "${HEED_FLAGS}")
set(CMAKE_CXX_FLAGS_INIT "${HEED_FLAGS}")
# Packages are looked for in the folders of -D CMAKE_FIND_ROOT_PATH, such as a board's file system, and beside the C library.
list(APPEND CMAKE_FIND_ROOT_PATH "/usr/${HEED_TRIPLE}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Tests run in the emulator; its variable QEMU_CPU chooses the processor.
set(CMAKE_CROSSCOMPILING_EMULATOR "${HEED_QEMU};-L;/usr/${HEED_TRIPLE}")
