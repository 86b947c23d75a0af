// Projects rows to keys and values and packs them where attention reads them.
// SPDX-License-Identifier: Apache-2.0
#include "ops/key_store.h"

namespace heed {
namespace {

// Rows of one sequence within a tile.
struct Part {
  uint32_t row;    // in the tile
  uint32_t count;
  uint32_t first;  // position of the first among the keys of its sequence
  uint32_t room;   // keys that the sequence has room for
  uint64_t slot;   // where the sequence begins
};

// Calls `use` for each sequence that the rows touch.
template <class Use>
void for_each_part(const KeyStore& store, uint32_t sequences, RowRange range, const Use& use) {
  const Tensor& source = *store.source;
  const uint32_t end = range.begin + range.count;
  uint32_t sequence = sequence_of(source, sequences, range.begin);
  for (uint32_t row = range.begin; row < end; ++sequence) {
    const uint32_t begin = source.begin(sequence);
    const uint32_t next = source.begin(sequence + 1);
    const uint32_t stop = next < end ? next : end;
    use(Part{row - range.begin, stop - row, store.before(sequence) + row - begin, store.room(sequence),
             store.slot(sequence)});
    row = stop;
  }
}

void pack_keys_f32(const KeyForm& form, const PackedKeys& packed, const Part& part, const float* in, uint64_t stride) {
  for (uint32_t h = 0; h < form.heads; ++h) {
    float* out = reinterpret_cast<float*>(packed.keys) + (h * packed.slots + part.slot) * form.key_dim;
    for (uint32_t i = 0; i < part.count; ++i) {
      const float* key = in + i * stride + uint64_t{h} * form.key_dim;
      for (uint32_t c = 0; c < form.key_dim; ++c) out[panel_f32_index(part.first + i, c, form.key_dim)] = key[c];
    }
  }
}

void pack_values_f32(const KeyForm& form, const PackedKeys& packed, const Part& part, const float* in,
                     uint64_t stride) {
  const uint64_t width = form.value_width();
  for (uint32_t h = 0; h < form.heads; ++h) {
    float* sequence = reinterpret_cast<float*>(packed.values) + (h * packed.slots + part.slot) * width;
    for (uint32_t i = 0; i < part.count; ++i) {
      const uint32_t position = part.first + i;
      const uint32_t tile = position / kKeyTile * kKeyTile;
      const uint32_t room = tile_keys(part.room, tile);
      const float* value = in + i * stride + uint64_t{h} * form.value_dim;
      float* out = sequence + tile * width;
      for (uint32_t c = 0; c < width; ++c) {
        out[panel_f32_index(c, position - tile, room)] = c < form.value_dim ? value[c] : 0.0f;
      }
    }
  }
}

void pack_keys(const Kernels& kernels, const KeyForm& form, const PackedKeys& packed, const Part& part,
               const FloatRows& rows) {
  const float* in = rows.data + part.row * rows.stride;
  if (!form.int8) return pack_keys_f32(form, packed, part, in, rows.stride);
  const uint64_t width = form.key_width();
  kernels.pack_keys_i8({in, rows.stride, part.count, form.heads, form.key_dim, part.first,
                        reinterpret_cast<int8_t*>(packed.keys) + part.slot * width, packed.slots * width,
                        packed.key_scale + part.slot, packed.key_sum + part.slot, packed.slots});
}

void pack_values(const Kernels& kernels, const KeyForm& form, const PackedKeys& packed, const Part& part,
                 const FloatRows& rows) {
  const float* in = rows.data + part.row * rows.stride;
  if (!form.int8) return pack_values_f32(form, packed, part, in, rows.stride);
  const uint64_t width = form.value_width();
  kernels.pack_values_i8({in, rows.stride, part.count, form.heads, form.value_dim, part.first, part.room,
                          reinterpret_cast<int8_t*>(packed.values) + part.slot * width, packed.slots * width,
                          packed.value_log2 + part.slot, packed.value_inverse + part.slot, packed.slots});
}

}  // namespace

heed_status check_projection(const PlanStep& step, int32_t id, uint64_t width, uint32_t features, const char* what) {
  return id < 0 ? expect_features(step, what, features, width) : check_matrix(step, id, width, features, what);
}

KeyScratch take_key_scratch(Carver& carver, const KeyProjection& projection, uint32_t tile_rows) {
  const WeightView& key = projection.key;
  const WeightView& value = projection.value;
  KeyScratch scratch{};
  if (!key.present() && !value.present()) return scratch;
  scratch.linear = take_linear_scratch(carver, key.format == schema::Format::q8c ? key : value, tile_rows);
  const uint32_t key_rows = key.present() ? key.rows : 0;
  const uint32_t value_rows = value.present() ? value.rows : 0;
  scratch.stride = round_up(key_rows > value_rows ? key_rows : value_rows, 16);
  scratch.projected = carver.take<float>(tile_rows * scratch.stride);
  return scratch;
}

void pack_key_rows(const Step& step, const KeyProjection& projection, const KeyStore& store, RowRange range,
                   const FloatRows& in, const KeyScratch& scratch) {
  SharedRows shared(step.kernels, in, scratch.linear);
  const auto project = [&](const WeightView& weight) {
    if (!weight.present()) return in;
    shared.multiply(weight, store_to(scratch.projected, scratch.stride));
    return FloatRows{scratch.projected, scratch.stride, in.rows};
  };
  const FloatRows keys = project(projection.key);
  for_each_part(store, step.sequences, range,
                [&](const Part& part) { pack_keys(step.kernels, projection.form, store.packed, part, keys); });
  const FloatRows values = project(projection.value);
  for_each_part(store, step.sequences, range,
                [&](const Part& part) { pack_values(step.kernels, projection.form, store.packed, part, values); });
}

}  // namespace heed
