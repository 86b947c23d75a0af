// Matrix products of rows of activations with a weight: what Linear, Attention and FeedForward share.
// SPDX-License-Identifier: Apache-2.0
//
// All products compute epilogue(rows * weight^T + bias). The bias is the weight's own: `epilogue.bias` is ignored.
// `epilogue.out` must not overlap the rows that are read; factor and residual may be `out`.
// Rows may be any number; 8 is what kernels like best, since every call reads the whole weight once.
#pragma once
#include <cstdint>

#include "kernels/kernels.h"
#include "model/weight.h"
#include "ops/op.h"

namespace heed {

// f32 [rows, cols], rows `stride` floats apart.
struct FloatRows {
  const float* data;
  uint64_t stride;
  uint32_t rows;
};

// Rows as QuantizeRows leaves them: bytes [rows, stride], flipped as the kernel table asks, and for each row the
// scale and the zero point.
struct QuantizedRows {
  uint8_t* bytes;
  uint64_t stride;
  float* scale;
  int32_t* zero;
  int32_t* ranges = nullptr;  // of the f32 rows, if what makes them finds these (Epilogue::ranges)
};

// Whether these functions can multiply by the weight: f32, f16 or q8c in layout panel16.
bool can_multiply(const WeightView& weight);

// Room for `rows` quantized rows of `cols` values.
QuantizedRows take_quantized(Carver& carver, uint32_t rows, uint32_t cols);
// The same over the memory of f32 rows `stride` floats apart, stride at least cols rounded up to 4: only scales and
// zero points need room.
QuantizedRows take_quantized_in_place(Carver& carver, float* data, uint64_t stride, uint32_t rows);
// Ranges for an epilogue to fill, of rows that only `weight` reads: where it does not read them scaled. Start them for each tile.
void take_ranges(Carver& carver, const WeightView& weight, uint32_t rows, QuantizedRows* out);
void start_ranges(const QuantizedRows& rows, uint32_t count);
// Room for one tile of a kernel's results: kTileElems elements.
int32_t* take_tile(Carver& carver);

// Quantizes rows for q8c weights, with the weight's cols and input_scale.
void quantize_for(const Kernels& kernels, const WeightView& weight, const FloatRows& in, const QuantizedRows& out);

// q8c. `tile` is what take_tile gave.
void multiply_quantized(const Kernels& kernels, const WeightView& weight, const QuantizedRows& in, uint32_t rows,
                        const Epilogue& epilogue, int32_t* tile);
// f32 and f16.
void multiply_floats(const Kernels& kernels, const WeightView& weight, const FloatRows& in, const Epilogue& epilogue,
                     int32_t* tile);

// What apply_linear needs besides its arguments.
struct LinearScratch {
  QuantizedRows quantized;  // null pointers unless the weight is q8c
  int32_t* tile;
};
LinearScratch take_linear_scratch(Carver& carver, const WeightView& weight, uint32_t rows);
uint64_t linear_scratch_bytes(const WeightView& weight, uint32_t rows);

// The right one of the above for the weight's format; q8c weights get their rows quantized first.
void apply_linear(const Kernels& kernels, const WeightView& weight, const FloatRows& in, const Epilogue& epilogue,
                  const LinearScratch& scratch);

}  // namespace heed
