// Attention's phase 0: projects a tile of rows to keys and values and packs them for phase 1.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/attention.h"

namespace heed {
namespace {

// Rows of one sequence within a tile.
struct Part {
  uint32_t row;        // in the tile
  uint32_t count;
  uint32_t first;      // position of the first in its sequence
  uint32_t keys;       // of the whole sequence
  uint32_t slot;       // where the sequence begins
};

// Calls `use` for each sequence that the rows touch.
template <class Use>
void for_each_part(const Tensor& source, uint32_t sequences, RowRange range, const Use& use) {
  const uint32_t end = range.begin + range.count;
  uint32_t sequence = sequence_of(source, sequences, range.begin);
  for (uint32_t row = range.begin; row < end; ++sequence) {
    const uint32_t begin = source.begin(sequence);
    const uint32_t next = source.begin(sequence + 1);
    const uint32_t stop = next < end ? next : end;
    use(Part{row - range.begin, stop - row, row - begin, next - begin, source.slots(sequence)});
    row = stop;
  }
}

void pack_keys_f32(const AttentionForm& form, const PackedKeys& packed, const Part& part, const float* in,
                   uint64_t stride) {
  for (uint32_t h = 0; h < form.kv_heads; ++h) {
    float* out = reinterpret_cast<float*>(packed.keys) + (h * packed.slots + part.slot) * form.head_dim;
    for (uint32_t i = 0; i < part.count; ++i) {
      const float* key = in + i * stride + uint64_t{h} * form.head_dim;
      for (uint32_t c = 0; c < form.head_dim; ++c) out[panel_f32_index(part.first + i, c, form.head_dim)] = key[c];
    }
  }
}

void pack_values_f32(const AttentionForm& form, const PackedKeys& packed, const Part& part, const float* in,
                     uint64_t stride) {
  const uint64_t width = form.value_width();
  for (uint32_t h = 0; h < form.kv_heads; ++h) {
    float* sequence = reinterpret_cast<float*>(packed.values) + (h * packed.slots + part.slot) * width;
    for (uint32_t i = 0; i < part.count; ++i) {
      const uint32_t position = part.first + i;
      const uint32_t tile = position / kKeyTile * kKeyTile;
      const uint32_t room = tile_keys(part.keys, tile);
      const float* value = in + i * stride + uint64_t{h} * form.value_dim;
      float* out = sequence + tile * width;
      for (uint32_t c = 0; c < width; ++c) {
        out[panel_f32_index(c, position - tile, room)] = c < form.value_dim ? value[c] : 0.0f;
      }
    }
  }
}

void pack_keys(const Step& step, const AttentionForm& form, const PackedKeys& packed, const Part& part,
               const KeyScratch& scratch) {
  const float* in = scratch.projected + part.row * scratch.stride;
  if (!form.int8) {
    pack_keys_f32(form, packed, part, in, scratch.stride);
    return;
  }
  const uint64_t width = form.key_width();
  step.kernels.pack_keys_i8({in, scratch.stride, part.count, form.kv_heads, form.head_dim, part.first,
                             reinterpret_cast<int8_t*>(packed.keys) + part.slot * width, packed.slots * width,
                             packed.key_scale + part.slot, packed.key_sum + part.slot, packed.slots});
}

void pack_values(const Step& step, const AttentionForm& form, const PackedKeys& packed, const Part& part,
                 const KeyScratch& scratch) {
  const float* in = scratch.projected + part.row * scratch.stride;
  if (!form.int8) {
    pack_values_f32(form, packed, part, in, scratch.stride);
    return;
  }
  const uint64_t width = form.value_width();
  step.kernels.pack_values_i8({in, scratch.stride, part.count, form.kv_heads, form.value_dim, part.first, part.keys,
                               reinterpret_cast<int8_t*>(packed.values) + part.slot * width, packed.slots * width,
                               packed.value_log2 + part.slot, packed.value_inverse + part.slot, packed.slots});
}

}  // namespace

void pack_keys_tile(const Step& step, const AttentionForm& form, RowRange range, uint8_t* memory) {
  const Tensor& source = key_source(step);
  Carver scratch_carver(memory);
  const KeyScratch scratch = take_key_scratch(scratch_carver, step.node, form, step.tile_rows);
  Carver packed_carver(step.workspace);
  const PackedKeys packed = take_packed(packed_carver, form, source.slots(step.sequences));
  const bool own_rows = step.in_count == 1;
  const FloatRows in = own_rows ? block_input(step, source, range, scratch.block)
                                : FloatRows{source.row(range.begin), source.stride, range.count};
  SharedRows rows(step.kernels, in, scratch.linear);
  const Epilogue store = store_to(scratch.projected, scratch.stride);
  rows.multiply(form.key, store);
  for_each_part(source, step.sequences, range, [&](const Part& p) { pack_keys(step, form, packed, p, scratch); });
  rows.multiply(form.value, store);
  for_each_part(source, step.sequences, range, [&](const Part& p) { pack_values(step, form, packed, p, scratch); });
}

}  // namespace heed
