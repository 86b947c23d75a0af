# Android, 64-bit ARM, with the NDK in ANDROID_NDK. Not tried: no NDK was at hand. Only libraries; programs of adb need HEED_BUILD_TOOLS=ON.
# SPDX-License-Identifier: Apache-2.0
set(ANDROID_ABI arm64-v8a CACHE STRING "arm64-v8a or armeabi-v7a")
set(ANDROID_PLATFORM android-24 CACHE STRING "The oldest Android that has to run it")
set(ANDROID_STL c++_static CACHE STRING "The C++ library of heed::host")
if(NOT DEFINED ANDROID_NDK)
  set(ANDROID_NDK "$ENV{ANDROID_NDK}")
endif()
if(NOT EXISTS "${ANDROID_NDK}/build/cmake/android.toolchain.cmake")
  message(FATAL_ERROR "heed: ANDROID_NDK (${ANDROID_NDK}) has to be the folder of an Android NDK")
endif()
include("${ANDROID_NDK}/build/cmake/android.toolchain.cmake")
