// Matrix products: cuts rows and outputs into tiles and calls the kernels on each.
// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul.h"

#include "ops/pieces.h"
#include "quant/panel.h"

namespace heed {
namespace {

constexpr uint32_t kFloatTileRows = 8;    // most that MultiplyF32 takes
constexpr uint32_t kFloatTilePanels = 4;

uint32_t panels_of(const WeightView& weight) {
  return static_cast<uint32_t>(round_up(weight.rows, kPanelRows) / kPanelRows);
}

// Moves a copy of `whole` to the tile whose first row and output these are.
void move_epilogue(const Epilogue& whole, const float* bias, uint64_t row, uint64_t output, Epilogue* tile) {
  tile->bias = bias ? bias + output : nullptr;
  if (whole.factor) tile->factor = whole.factor + row * whole.factor_stride + output;
  if (whole.residual) tile->residual = whole.residual + row * whole.residual_stride + output;
  tile->out = whole.out + row * whole.out_stride + output;
  if (whole.ranges) tile->ranges = whole.ranges + row * kRangeElems;
}

// Whether quantized rows are woven (QuantizeRows).
bool are_woven(const Kernels& kernels, const WeightView& weight, uint32_t rows) {
  return kernels.weaves_rows && rows % 4 == 0 && weight.cols % 8 == 0;
}

// Outputs in `panels` panels from `output` on.
uint32_t outputs_of(const WeightView& weight, uint32_t output, uint32_t panels) {
  const uint32_t left = weight.rows - output;
  return left < panels * kPanelRows ? left : panels * kPanelRows;
}

}  // namespace

bool can_multiply(const WeightView& weight) {
  return weight.layout == schema::Layout::panel16 &&
         (weight.format == schema::Format::q8c || weight.format == schema::Format::f32 ||
          weight.format == schema::Format::f16);
}

QuantizedRows take_quantized(Carver& carver, uint32_t rows, uint32_t cols) {
  QuantizedRows out;
  out.stride = round_up(cols, kGroupCols);
  out.bytes = carver.take<uint8_t>(rows * out.stride);
  out.scale = carver.take<float>(rows);
  out.zero = carver.take<int32_t>(rows);
  return out;
}

QuantizedRows take_quantized_in_place(Carver& carver, float* data, uint64_t stride, uint32_t rows) {
  QuantizedRows out;
  out.stride = stride * sizeof(float);
  out.bytes = reinterpret_cast<uint8_t*>(data);
  out.scale = carver.take<float>(rows);
  out.zero = carver.take<int32_t>(rows);
  return out;
}

void take_ranges(Carver& carver, const WeightView& weight, uint32_t rows, QuantizedRows* out) {
  if (weight.format == schema::Format::q8c && !weight.input_scale) out->ranges = carver.take<int32_t>(uint64_t{rows} * kRangeElems);
}

// The least ranges: from -0 to +0.
void start_ranges(const QuantizedRows& rows, uint32_t count) {
  for (uint64_t i = 0; rows.ranges && i < uint64_t{count} * kRangeElems; ++i) {
    rows.ranges[i] = i % kRangeElems < kRangeElems / 2 ? 0 : INT32_MIN;
  }
}

int32_t* take_tile(Carver& carver) { return carver.take<int32_t>(kTileElems); }

void quantize_for(const Kernels& kernels, const WeightView& weight, const FloatRows& in, const QuantizedRows& out) {
  QuantizeRows args;
  args.in = in.data;
  args.in_stride = in.stride;
  args.rows = in.rows;
  args.cols = weight.cols;
  args.input_scale = weight.input_scale;
  args.flip = kernels.byte_flip;
  args.out = out.bytes;
  args.out_stride = out.stride;
  args.scale = out.scale;
  args.zero = out.zero;
  args.woven = are_woven(kernels, weight, in.rows);
  args.ranges = out.ranges;
  kernels.quantize_rows(args);
}

// Panels outside, rows inside: the weights of a few panels come from far away once and serve all rows.
void multiply_quantized(const Kernels& kernels, const WeightView& weight, const QuantizedRows& in, uint32_t rows,
                        const Epilogue& epilogue, int32_t* tile) {
  MultiplyI8 product;
  product.a_stride = in.stride;
  product.groups = static_cast<uint32_t>(round_up(weight.cols, kGroupCols) / kGroupCols);
  product.w_panel_stride = panel_i8_bytes(weight.cols);
  product.sums = nullptr;  // FinishI8 knows the zero points
  product.c = tile;
  product.woven = are_woven(kernels, weight, rows);
  FinishI8 finish;
  finish.c = tile;
  finish.epilogue = epilogue;
  const uint32_t step = product.woven ? 4 : 1;
  const Pieces row_pieces(rows / step, kernels.tile_rows / step);
  const Pieces panel_pieces(panels_of(weight), kernels.tile_panels);
  // The first rows would wait for weights that come from far away: while some panels are at work, the next ones come.
  const uint64_t share = row_pieces.count() >= 4 ? 1 : row_pieces.count() >= 2 ? 2 : 4;  // quarters that a call fetches
  for (uint64_t p = 0; p < panel_pieces.count(); ++p) {
    const uint32_t output = panel_pieces.begin(p) * kPanelRows;
    product.panels = panel_pieces.size(p);
    product.w = static_cast<const int8_t*>(weight.data) + panel_pieces.begin(p) * product.w_panel_stride;
    product.c_stride = finish.c_stride = product.panels * kPanelRows;
    finish.outputs = outputs_of(weight, output, product.panels);
    finish.w_scale = weight.scales + output;
    finish.w_sum = weight.sums + output;
    for (uint64_t r = 0; r < row_pieces.count(); ++r) {
      const uint32_t row = row_pieces.begin(r) * step;
      product.rows = finish.rows = row_pieces.size(r) * step;
      product.a = in.bytes + row * in.stride;
      product.fetches = r * share < 4 ? share : 0;
      product.ahead = product.w + (4 + r * share) * product.panels * product.w_panel_stride / 4;
      kernels.multiply_i8(product);
      finish.scale = in.scale + row;
      finish.zero = in.zero + row;
      move_epilogue(epilogue, weight.bias, row, output, &finish.epilogue);
      kernels.finish_i8(finish);
    }
  }
}

void multiply_floats(const Kernels& kernels, const WeightView& weight, const FloatRows& in, const Epilogue& epilogue,
                     int32_t* tile) {
  const bool half = weight.format == schema::Format::f16;
  MultiplyF32 product;
  product.a_stride = in.stride;
  product.cols = weight.cols;
  product.w_format = half ? ElementFormat::kF16 : ElementFormat::kF32;
  product.w_panel_stride = uint64_t{weight.cols} * kPanelRows;
  product.c = reinterpret_cast<float*>(tile);
  FinishF32 finish;
  finish.c = product.c;
  finish.epilogue = epilogue;
  const Pieces row_pieces(in.rows, kFloatTileRows);
  const Pieces panel_pieces(panels_of(weight), kFloatTilePanels);
  for (uint64_t p = 0; p < panel_pieces.count(); ++p) {
    const uint32_t output = panel_pieces.begin(p) * kPanelRows;
    product.panels = panel_pieces.size(p);
    product.w = static_cast<const uint8_t*>(weight.data) +
                panel_pieces.begin(p) * product.w_panel_stride * (half ? sizeof(uint16_t) : sizeof(float));
    product.c_stride = finish.c_stride = product.panels * kPanelRows;
    finish.outputs = outputs_of(weight, output, product.panels);
    for (uint64_t r = 0; r < row_pieces.count(); ++r) {
      const uint32_t row = row_pieces.begin(r);
      product.rows = finish.rows = row_pieces.size(r);
      product.a = in.data + row * in.stride;
      kernels.multiply_f32(product);
      move_epilogue(epilogue, weight.bias, row, output, &finish.epilogue);
      kernels.finish_f32(finish);
    }
  }
}

LinearScratch take_linear_scratch(Carver& carver, const WeightView& weight, uint32_t rows) {
  LinearScratch scratch = {};
  if (weight.format == schema::Format::q8c) scratch.quantized = take_quantized(carver, rows, weight.cols);
  scratch.tile = take_tile(carver);
  return scratch;
}

uint64_t linear_scratch_bytes(const WeightView& weight, uint32_t rows) {
  Carver counter(nullptr);
  take_linear_scratch(counter, weight, rows);
  return counter.used();
}

void apply_linear(const Kernels& kernels, const WeightView& weight, const FloatRows& in, const Epilogue& epilogue,
                  const LinearScratch& scratch) {
  if (weight.format == schema::Format::q8c) {
    quantize_for(kernels, weight, in, scratch.quantized);
    multiply_quantized(kernels, weight, scratch.quantized, in.rows, epilogue, scratch.tile);
  } else {
    multiply_floats(kernels, weight, in, epilogue, scratch.tile);
  }
}

}  // namespace heed
