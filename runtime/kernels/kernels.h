// The kernel table: arithmetic on raw pointers, one entry for each kernel and instruction set.
// SPDX-License-Identifier: Apache-2.0
//
// Every table has every entry, and all tables give the same bits. The rules that make this so:
//   * a float product is rounded before it is added (exact_float.h); sums over a row use 16 lanes (element i goes
//     to lane i mod 16, in order) and then the tree 8-4-2-1; sums over k of a float matrix run in order of k;
//   * division and square root are the IEEE ones; exp2, log2, tanh, erf are simd/math.h's;
//   * rounding to an integer is to nearest even;
//   * every f32 that is stored and has a magnitude below 2^-51 is stored as +0; a stored NaN is 0x7fc00000.
// Kernels check nothing, allocate nothing and return nothing. Strides are in elements of what they step over.
#pragma once
#include <cstdint>

namespace heed {

enum class ElementFormat : uint8_t { kF32, kF16, kI8 };
enum class ActivationFunction : uint8_t { kNone, kRelu, kGelu, kGeluTanh, kSilu, kTanh, kSigmoid };  // as schema ActivationKind

constexpr float kLog2E = 0x1.715476p+0f;
constexpr float kLeastScale = 0x1p-40f;
constexpr float kLeastStored = 0x1p-51f;

// c[r, o] = sum over k of a[r, k] * w[o, k], exact in i32.
// A byte of `a` is unsigned where the table's byte_flip is 0x80 and signed where it is 0. Given the sums of w's rows, unsigned
// bytes give what signed ones, byte ^ 0x80, would: c[r, o] less 128 * sums[o].
struct MultiplyI8 {
  const uint8_t* a;         // [rows, 4*groups], rows a_stride bytes apart
  uint64_t a_stride;
  uint32_t rows;            // 1 .. table.tile_rows
  uint32_t panels;          // 1 .. table.tile_panels
  uint32_t groups;          // of 4 inputs
  const int8_t* w;          // panels of [groups][16][4] (quant/panel.h), 64-byte aligned, values in [-127, 127]
  uint64_t w_panel_stride;  // bytes from one panel to the next, a multiple of 64
  const int32_t* sums;      // [16*panels], 64-byte aligned; or null
  int32_t* c;               // [rows, 16*panels], 64-byte aligned
  uint32_t c_stride;        // a multiple of 16
  bool woven;               // rows lie as QuantizeRows weaves them: their number is a multiple of 4, groups are even
  // Weights of later calls, for a kernel that brings them nearer while it multiplies: `fetches` (0 .. 4) lines of 64
  // bytes for each panel of every 4 groups, one behind the other. Only fetched, so they may lie behind the last ones.
  const int8_t* ahead;
  uint32_t fetches;
};

// Rows to int8 with a scale and a zero point: in[r, c] = (byte - zero[r]) * scale[r], about.
// x = in * input_scale; lo = min(0, min x), hi = max(0, max x); scale = max((hi - lo) * (1/255), 2^-40);
// inv = 1 / scale; z = round(-lo * inv) - 128, clamped to [-128, 127]; q = round(x * inv) + z, clamped to [-128, 127];
// byte = q ^ flip; zero = z + (flip ? 128 : 0).
// A row with a value that is not finite gets scale NaN and q = 0.
// `out` may be the memory of `in`: row r is read before any byte of it is overwritten when out_stride <= 4 * in_stride.
struct QuantizeRows {
  const float* in;           // [rows, cols]
  uint64_t in_stride;
  uint32_t rows;
  uint32_t cols;
  const float* input_scale;  // [cols], or null
  uint8_t flip;              // the table's byte_flip
  uint8_t* out;              // [rows, out_stride]; bytes from cols up to the next multiple of 4 are made q = 0
  uint64_t out_stride;
  float* scale;              // [rows]
  int32_t* zero;             // [rows]
  // Only where the table's weaves_rows says so, for rows a multiple of 4 and cols of 8: rows 4i .. 4i + 3 take turns,
  // 8 bytes each: [rows/4][cols/8][4][8], fours 4 * out_stride bytes apart.
  bool woven;
  // What x is at most and at least, if it is known (Epilogue::ranges; then input_scale is null); or null.
  const int32_t* ranges;
};

// Rows to int8, symmetric, one scale for each row and head: scale = max(max|x| * (1/127), 2^-40);
// q = round(x * (1/scale)) in [-127, 127]; byte = q ^ flip. Not finite: as QuantizeRows.
struct QuantizeHeads {
  const float* in;      // [rows, heads * head_dim]
  uint64_t in_stride;
  uint32_t rows;
  uint32_t heads;
  uint32_t head_dim;
  uint8_t flip;
  uint8_t* out;         // [rows, heads, round_up(head_dim, 4)]
  float* scale;         // [rows, heads]
};

// Keys of one sequence, quantized as QuantizeHeads (never flipped) into panels (quant/panel.h), and the sum of each.
// in[i] is the key at position first + i of its sequence. Slots of the last panel that no key fills are left as they are.
struct PackKeysI8 {
  const float* in;        // [rows, heads * head_dim]
  uint64_t in_stride;
  uint32_t rows;
  uint32_t heads;
  uint32_t head_dim;
  uint32_t first;
  int8_t* out;            // head h at out + h * out_head_stride bytes: [keys/16][head_dim/4][16][4]
  uint64_t out_head_stride;
  float* scale;           // key p of head h at scale[h * slot_stride + p]
  int32_t* sum;           // likewise
  uint64_t slot_stride;
};

// Values of one sequence that has `keys` keys in all: quantized as QuantizeHeads into tiles (quant/panel.h), and
// log2 and inverse of each scale. Features from value_dim to the next multiple of 16 are made 0 for the keys written.
struct PackValuesI8 {
  const float* in;        // [rows, heads * value_dim]
  uint64_t in_stride;
  uint32_t rows;
  uint32_t heads;
  uint32_t value_dim;
  uint32_t first;
  uint32_t keys;
  int8_t* out;            // head h at out + h * out_head_stride bytes: tiles of [value_dim/16][keys/4][16][4]
  uint64_t out_head_stride;
  float* scale_log2;      // key p of head h at [h * slot_stride + p]
  float* scale_inverse;
  uint64_t slot_stride;
};

// What happens to a product before it is stored: y = product + bias; y = act(y); y = y * factor; y = y + residual.
struct Epilogue {
  const float* bias;          // [outputs], or null
  ActivationFunction activation;
  const float* factor;        // [rows, outputs], or null; rows factor_stride apart; may be `out`
  uint64_t factor_stride;
  const float* residual;      // [rows, outputs], or null; may be `out`
  uint64_t residual_stride;
  float* out;                 // [rows, outputs]; nothing past `outputs` is written
  uint64_t out_stride;
  // For rows that QuantizeRows reads next, or null: [rows, 2, 16] take in the greatest bits of y, as signed and as unsigned
  // numbers, output o in lane o mod 16. Then gelu is coarse (simd/math.h), and y is stored as it is, tiny or any NaN.
  int32_t* ranges;
};
constexpr uint32_t kRangeElems = 32;  // of a row

// product[r, o] = (float(c[r, o] - zero[r] * sum[o]) * scale[r]) * w_scale[o].
struct FinishI8 {
  const int32_t* c;        // [rows, outputs], 64-byte aligned, rows padded to c_stride
  uint32_t c_stride;
  uint32_t rows;
  uint32_t outputs;
  const float* scale;      // [rows]
  const int32_t* zero;     // [rows]
  const float* w_scale;    // [outputs]
  const int32_t* w_sum;    // [outputs]
  Epilogue epilogue;
};

// c[r, o] = sum over k, in order, of a[r, k] * w[o, k] in f32; f16 weights become f32 first.
struct MultiplyF32 {
  const float* a;           // [rows, cols]
  uint64_t a_stride;
  uint32_t rows;            // 1 .. 8
  uint32_t panels;          // 1 .. 4
  uint32_t cols;
  const void* w;            // panels of [cols][16], f32 or f16
  ElementFormat w_format;
  uint64_t w_panel_stride;  // elements from one panel to the next
  float* c;                 // [rows, 16*panels]
  uint32_t c_stride;        // a multiple of 16
};

// Additive scores: c[r, j] = sum over k, in order, of v[k] * tanh(a[r, k] + keys[j, k]).
struct ScoreAdditive {
  const float* a;     // [rows, cols]
  uint64_t a_stride;
  uint32_t rows;
  const float* v;     // [cols]
  const float* keys;  // panels of [cols][16]
  uint32_t panels;
  uint32_t cols;
  float* c;           // [rows, 16*panels]
  uint32_t c_stride;  // a multiple of 16
};

// product[r, o] = c[r, o].
struct FinishF32 {
  const float* c;
  uint32_t c_stride;
  uint32_t rows;
  uint32_t outputs;
  Epilogue epilogue;
};

// Scores of some query rows of one head with one tile of at most 64 keys, and what else decides their weights.
//   int8: t = (float(score) * key_scale[j]) * row_scale[r]
//   f32:  t = score * row_scale[r]
// then, where bias is given, t = t + bias[r, j]; u = t + value_log2[j] (f32: u = t). Everything is in units of log2.
// Row r sees keys begin[r] <= j < end[r]; a bias of -inf hides a key too. What is hidden is never computed with.
struct ScoreTile {
  uint32_t rows;               // 1 .. 16
  uint32_t keys;               // 1 .. 64
  const int32_t* scores_i8;    // [rows, 64], or null
  const float* scores_f32;     // [rows, 64], or null
  const float* row_scale;      // row r at row_scale[r * row_scale_stride]
  uint64_t row_scale_stride;
  float score_scale;           // times log2 e; row_scale is multiplied by it first
  const float* key_scale;      // [keys]
  const float* value_log2;
  const float* value_inverse;  // 1 / scale of each value row
  const float* bias;           // [rows, 64] times log2 e, or null
  const uint8_t* begin;        // [rows]
  const uint8_t* end;          // [rows], at most keys
};

// One step of softmax over the tiles of a row. Carries max[r] (-inf before the first tile) and sum[r] (0).
//   tile_max = max of u; new_max = max(max, tile_max); e = 127 * exp2(u - tile_max), coarsely (simd/math.h)
//   factor = exp2(tile_max - new_max) * (1/127); decay = exp2(max - new_max), 0 if max is -inf
//   weight = round(e); sum = sum * decay + factor * (sum of e * value_inverse)
// A row that sees nothing here gets weights 0, decay 1 and factor 0, and keeps max and sum.
struct SoftmaxTileI8 {
  ScoreTile tile;
  uint8_t* weights;  // [rows, 64]: 0 .. 127; 0 from `keys` up to the next multiple of 16
  float* max;        // [rows]
  float* sum;
  float* decay;      // [rows], out
  float* factor;     // [rows], out
};

// acc = acc * decay + float(pooled) * factor, with acc * 0 being 0 whatever acc holds.
struct PoolTileI8 {
  const int32_t* pooled;  // [rows, pooled_stride]
  uint32_t pooled_stride;
  uint32_t rows;
  uint32_t cols;
  const float* decay;
  const float* factor;
  float* acc;             // [rows, cols], rows acc_stride apart
  uint64_t acc_stride;
};

// The same without value scales and without rounding weights: weight = e = exp2(u - tile_max); factor = exp2(tile_max - new_max).
struct SoftmaxTileF32 {
  ScoreTile tile;
  float* weights;    // [rows, 64]; 0 from `keys` up to the next multiple of 16
  float* max;
  float* sum;
  float* decay;
  float* factor;
};

struct PoolTileF32 {
  const float* pooled;
  uint32_t pooled_stride;
  uint32_t rows;
  uint32_t cols;
  const float* decay;
  const float* factor;
  float* acc;
  uint64_t acc_stride;
};

// The weights of a tile once max and sum of the whole row are known: (exp2(u - max) * value_inverse) / sum, 0 where
// hidden or where sum is 0 (f32: value_inverse is 1).
struct WeighTile {
  ScoreTile tile;
  const float* max;
  const float* sum;
  float* weights;    // [rows, 64]
};

// x[r, c] = x[r, c] * (1 / divisor[r]); a divisor of 0 makes the row exactly 0.
struct DivideRows {
  float* x;
  uint64_t stride;
  uint32_t rows;
  uint32_t cols;
  const float* divisor;
};

enum class NormFunction : uint8_t { kLayer, kRms };  // as schema NormKind

// layer: (x - mean) * (1 / sqrt(var + epsilon)) * gain + shift, var = mean of (x - mean)^2;
// rms: x * (1 / sqrt(mean of x^2 + epsilon)) * gain + shift. `out` may be `in`.
struct NormalizeRows {
  const float* in;     // [rows, cols]
  uint64_t in_stride;
  uint32_t rows;
  uint32_t cols;
  NormFunction function;
  float epsilon;
  const float* gain;   // [cols]
  const float* shift;  // [cols], or null
  float* out;
  uint64_t out_stride;
};

// out[i] = act(in[i]); `out` may be `in`. gelu: x * (1 + erf(x / sqrt 2)) / 2.
struct Activate {
  const float* in;
  uint64_t count;
  ActivationFunction function;
  float* out;
};

// out[i] = a[i] op b[i]; `out` may be either.
struct Combine {
  const float* a;
  const float* b;
  uint64_t count;
  float* out;
};

// out[i] = a[i] + weight[i] * (b[i] - a[i]); `out` may be any of them.
struct Mix {
  const float* a;
  const float* b;
  const float* weight;
  uint64_t count;
  float* out;
};

// Softmax of each row; x / sqrt(sum of x^2) of each row (a row of zeros stays). `out` may be `in`.
struct Rows {
  const float* in;
  uint64_t in_stride;
  uint32_t rows;
  uint32_t cols;
  float* out;
  uint64_t out_stride;
};

// *out = ln of the sum of e^x = top + ln 2 * log2(sum of 2^((x - top) * log2 e)), top the greatest. Error 3e-7 of max(1, |result|).
// Not a number if some x is none, or infinite above 0, or if all are infinite.
struct LogSumRow {
  const float* in;
  uint32_t cols;  // at least 1
  float* out;
};

// out = (add ? out : 0) + row * scale, row being [cols] of f32, f16 or int8.
struct LookUpRow {
  const void* row;
  ElementFormat format;
  uint32_t cols;
  float scale;
  bool add;
  float* out;
};

enum class PoolFunction : uint8_t { kFirst, kMean, kMax, kLast };  // as schema PoolKind

// One row from `rows` rows (at least 1). mean: the sum in order of rows, divided by float(rows).
struct PoolRows {
  const float* in;
  uint64_t in_stride;
  uint32_t rows;
  uint32_t cols;
  PoolFunction function;
  float* out;           // [cols]
};

struct Kernels {
  const char* isa;
  uint32_t tile_rows;    // most rows of one multiply_i8, at most 32
  uint32_t tile_panels;  // most panels of one multiply_i8; tile_rows * 16 * tile_panels is at most kTileElems
  bool weaves_rows;      // multiply_i8 and quantize_rows know `woven`, which is faster
  uint8_t byte_flip;     // 0x80: activation bytes are unsigned (q + 128); 0: signed
  // Called by a thread before its first multiply_i8 and after its last, where registers need setting up; or null.
  void (*enter)();
  void (*leave)();
#define HEED_KERNEL(name, Arguments) void (*name)(const Arguments&);
#include "kernels/kernel_list.inc"
#undef HEED_KERNEL
};

constexpr uint32_t kTileElems = 1024;  // room for a tile of multiply_i8 or multiply_f32, in 4-byte elements

// One table for each line of isa_list.inc that was built. isa_table(i) is null for one that was not.
constexpr uint32_t kIsaCount = 0
#define HEED_ISA(name, family) +1
#include "kernels/isa_list.inc"
#undef HEED_ISA
    ;
const Kernels* isa_table(uint32_t index);
const char* isa_name(uint32_t index);
// Whether this machine, and its operating system, can run it.
bool isa_runs(uint32_t index);
// The first that was built and runs; or the one called `name`, null if there is none such that runs.
const Kernels* find_kernels(const char* name);

}  // namespace heed
