// Keys and values as attention reads them: packed for each head, in an op's workspace or in a state of the session.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/carver.h"
#include "quant/panel.h"

namespace heed {

struct KeyForm {
  uint32_t heads;
  uint32_t key_dim;
  uint32_t value_dim;
  bool int8;  // else f32

  // Features of a packed key and of a packed value.
  uint64_t key_width() const { return int8 ? round_up(key_dim, kGroupCols) : key_dim; }
  uint64_t value_width() const { return round_up(value_dim, kPanelRows); }
  uint64_t element_bytes() const { return int8 ? 1 : 4; }
};

// Head h, slot s of an array with `width` elements for each slot lies at (h * slots + s) * width; slots are a multiple
// of 16. How a sequence's part lies: quant/panel.h.
struct PackedKeys {
  uint64_t slots;
  uint8_t* keys;  // int8 or f32
  uint8_t* values;
  float* key_scale;  // int8 only, as the next three
  int32_t* key_sum;
  float* value_log2;  // log2 and inverse of each value row's scale
  float* value_inverse;
};

inline PackedKeys take_packed(Carver& carver, const KeyForm& form, uint64_t slots) {
  const uint64_t all = slots * form.heads;
  PackedKeys packed{};
  packed.slots = slots;
  packed.keys = carver.take<uint8_t>(all * form.key_width() * form.element_bytes());
  packed.values = carver.take<uint8_t>(all * form.value_width() * form.element_bytes());
  if (!form.int8) return packed;
  packed.key_scale = carver.take<float>(all);
  packed.key_sum = carver.take<int32_t>(all);
  packed.value_log2 = carver.take<float>(all);
  packed.value_inverse = carver.take<float>(all);
  return packed;
}

}  // namespace heed
