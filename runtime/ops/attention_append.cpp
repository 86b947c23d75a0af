// Attention's phase 0: a tile of rows becomes keys and values, in the workspace or behind those of a state.
// SPDX-License-Identifier: Apache-2.0
#include "ops/attention.h"

namespace heed {

AppendScratch take_append_scratch(Carver& carver, const schema::Node& node, const AttentionForm& form,
                                  uint32_t tile_rows) {
  AppendScratch scratch{};
  scratch.block = take_block(carver, node, form.query, form.output, tile_rows);
  scratch.keys = take_key_scratch(carver, form.keys, tile_rows);
  return scratch;
}

void append_keys_tile(const Step& step, const AttentionForm& form, RowRange range, uint8_t* memory) {
  const Tensor& source = key_source(step);
  Carver carver(memory);
  const AppendScratch scratch = take_append_scratch(carver, step.node, form, step.tile_rows);
  // Only its own rows are normed: a second input comes as it is.
  const FloatRows in = step.in_count == 1 ? block_input(step, source, range, scratch.block)
                                          : FloatRows{source.row(range.begin), source.stride, range.count};
  pack_key_rows(step, form.keys, key_store(step, form), range, in, scratch.keys);
}

}  // namespace heed
