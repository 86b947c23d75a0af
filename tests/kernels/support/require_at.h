// REQUIRE for innermost loops, which an emulator is slow in: where `condition` holds, nothing is written and nothing counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <catch2/catch.hpp>

#define REQUIRE_AT(condition, place)                            \
  do {                                                          \
    if (!(condition)) FAIL(#condition " is false at " << place); \
  } while (false)
