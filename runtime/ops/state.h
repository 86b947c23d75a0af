// What a session keeps between runs: its size, from the file and the limits alone, and where it lies.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "heed/heed.h"
#include "model_generated.h"
#include "ops/packed_keys.h"

namespace heed {

struct StateForm {
  schema::StateKind kind;
  KeyForm keys;       // kv_append, kv_fixed
  uint32_t features;  // recurrent
  uint32_t rows;      // most keys of one slot
  uint32_t slots;     // sequences, or sources of kv_fixed, that it has room for

  bool has_keys() const { return kind == schema::StateKind::kv_append || kind == schema::StateKind::kv_fixed; }
  // Key slots of one sequence, and of all.
  uint64_t stride() const { return padded_keys(rows); }
  uint64_t key_slots() const { return stride() * slots; }
  uint64_t row_stride() const { return round_up(features, kAlignment / sizeof(float)); }
};

// Of the state with id `id`, which must be in range. Takes the same time whatever the file holds.
StateForm state_form(const heed_model& model, int32_t id, const heed_limits& limits);

// Bytes of all slots, without their lengths; kHugeState where that is more than any machine has.
constexpr uint64_t kHugeState = uint64_t{1} << 62;
uint64_t state_bytes(const StateForm& form);

// A state while a pass runs.
struct StateView {
  StateForm form;
  uint8_t* data;            // PackedKeys, or f32 [slots, row_stride]
  uint32_t* lengths;        // [slots] keys that each holds; null for recurrent
  const uint32_t* slot_of;  // [sequences] the slot of each sequence; null for kv_fixed
  uint32_t beams;           // sequences that share a slot of kv_fixed

  uint32_t slot(uint32_t sequence) const { return slot_of ? slot_of[sequence] : sequence / beams; }
  uint32_t length(uint32_t sequence) const { return lengths[slot(sequence)]; }
  float* row(uint32_t sequence) const {
    return reinterpret_cast<float*>(data) + slot(sequence) * form.row_stride();
  }
  PackedKeys packed() const {
    Carver carver(data);
    return take_packed(carver, form.keys, form.key_slots());
  }
};

}  // namespace heed
