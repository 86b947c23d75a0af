// Every float kernel, over any lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/additive.h"
#include "kernels/simd/finish.h"
#include "kernels/simd/multiply_f32.h"
#include "kernels/simd/normalize.h"
#include "kernels/simd/pack.h"
#include "kernels/simd/pool_tile.h"
#include "kernels/simd/quantize.h"
#include "kernels/simd/rows.h"
#include "kernels/simd/softmax_tile.h"
