// Attention's phase 1: a tile of query rows goes over the packed keys of its sequences, 64 keys at a time.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"
//
#include <cstring>

#include "ops/attention.h"
#include "ops/pieces.h"

namespace heed {
namespace {

constexpr uint32_t kFloatRows = 8;    // most rows and panels of one multiply_f32
constexpr uint32_t kFloatPanels = 4;

// Rows of one sequence and one head that go over the keys together.
struct Block {
  uint32_t sequence;
  uint32_t head;
  uint32_t row;         // of the first, in the tile
  uint32_t first;       // its position in the sequence
  int64_t place;        // and among the keys
  uint32_t rows;        // at most kBlockRows
  uint32_t keys;        // of the sequence
  uint32_t room;        // keys that there is room for
  uint64_t slot;        // of key 0 in this head's part of arrays with one entry for each slot
  bool whole;           // every row sees every key
  uint32_t begin[kBlockRows];  // keys that each row sees
  uint32_t end[kBlockRows];
};

// Up to 64 keys, and which of them each row sees.
struct KeyTile {
  uint32_t first;
  uint32_t keys;
  uint32_t used;  // keys rounded up to whole panels
  uint32_t room;  // keys that the tile has room for, which is how far apart its panels of values are
  uint8_t begin[kBlockRows];
  uint8_t end[kBlockRows];
};

// What softmax carries from tile to tile.
struct Running {
  float max[kBlockRows];
  float sum[kBlockRows];
  float decay[kBlockRows];
  float factor[kBlockRows];
};

uint32_t clamp(int64_t x, int64_t low, int64_t high) {
  return static_cast<uint32_t>(x < low ? low : x > high ? high : x);
}

void find_visible(const schema::Node& node, uint32_t queries, Block* block) {
  const int64_t keys = block->keys;
  const int64_t shift = node.causal_top_left() ? 0 : keys - queries;
  block->place = block->first + shift;
  block->whole = !node.causal() && node.window_right() < 0 && node.window_left() < 0;
  for (uint32_t r = 0; r < block->rows; ++r) {
    const int64_t place = block->place + r;
    int64_t end = keys;
    if (node.causal() && end > place + 1) end = place + 1;
    if (node.window_right() >= 0 && end > place + node.window_right() + 1) end = place + node.window_right() + 1;
    block->end[r] = clamp(end, 0, keys);
    block->begin[r] = node.window_left() < 0 ? 0 : clamp(place - node.window_left(), 0, block->end[r]);
  }
}

// The tile that starts at `first`; false if no row sees any of it.
bool make_tile(const Block& block, uint32_t first, KeyTile* tile) {
  tile->first = first;
  tile->used = tile_keys(block.keys, first);
  tile->room = tile_keys(block.room, first);
  tile->keys = block.keys - first < kKeyTile ? block.keys - first : kKeyTile;
  if (block.whole) {
    std::memset(tile->begin, 0, block.rows);
    std::memset(tile->end, static_cast<int>(tile->keys), block.rows);
    return true;
  }
  bool visible = false;
  for (uint32_t r = 0; r < block.rows; ++r) {
    tile->begin[r] = static_cast<uint8_t>(clamp(int64_t{block.begin[r]} - first, 0, tile->keys));
    tile->end[r] = static_cast<uint8_t>(clamp(int64_t{block.end[r]} - first, 0, tile->keys));
    visible = visible || tile->begin[r] < tile->end[r];
  }
  return visible;
}

// One tile of query rows on its way over the keys.
class Attend {
 public:
  Attend(const Step& step, const AttentionForm& form, const PackedKeys& packed, QueryScratch& scratch)
      : step_(step), kernels_(step.kernels), form_(form), keys_(form.keys.form), packed_(packed), scratch_(scratch) {}

  // Pools the values for one block into the context.
  void run(const Block& block) {
    Running running;
    for (uint32_t r = 0; r < block.rows; ++r) {
      running.max[r] = -__builtin_inff();
      running.sum[r] = 0.0f;
    }
    KeyTile tile;
    for (uint32_t first = 0; first < block.keys; first += kKeyTile) {
      if (!make_tile(block, first, &tile)) continue;
      score(block, tile);
      soften(block, tile, &running);
      pool(block, tile, running);
    }
    kernels_.divide_rows({context(block), scratch_.context_stride, block.rows, keys_.value_dim, running.sum});
    if (step_.tap != nullptr) tap(block, running);
  }

 private:
  float* context(const Block& block) const {
    return scratch_.context + block.row * scratch_.context_stride + uint64_t{block.head} * keys_.value_dim;
  }

  // products = q . k, [rows, 64].
  void score(const Block& block, const KeyTile& tile) const {
    const uint64_t width = keys_.key_width();
    const uint8_t* keys = packed_.keys + (block.slot + tile.first) * width * keys_.element_bytes();
    const uint32_t panels = tile.used / kPanelRows;
    if (form_.additive != nullptr) {
      score_additive(block, reinterpret_cast<const float*>(keys), panels);
    } else if (keys_.int8) {
      const uint64_t stride = form_.heads * width;
      multiply_i8({scratch_.query_bytes + block.row * stride + block.head * width, stride, block.rows, panels,
                   static_cast<uint32_t>(width / kGroupCols), reinterpret_cast<const int8_t*>(keys),
                   width * kPanelRows, packed_.key_sum + block.slot + tile.first, static_cast<int32_t*>(scratch_.products), kKeyTile, false,
                   nullptr, 0});
    } else {
      const float* query = scratch_.query + block.row * scratch_.query_stride + uint64_t{block.head} * keys_.key_dim;
      multiply_f32({query, scratch_.query_stride, block.rows, panels, keys_.key_dim, keys, ElementFormat::kF32,
                    width * kPanelRows, static_cast<float*>(scratch_.products), kKeyTile});
    }
  }

  void score_additive(const Block& block, const float* keys, uint32_t panels) const {
    const uint64_t at = uint64_t{block.head} * keys_.key_dim;
    kernels_.score_additive({scratch_.query + block.row * scratch_.query_stride + at, scratch_.query_stride, block.rows,
                             form_.additive + at, keys, panels, keys_.key_dim, static_cast<float*>(scratch_.products),
                             kKeyTile});
  }

  // Written where a kernel reads it: a copy of what was just written waits for it.
  void scores(const Block& block, const KeyTile& tile, ScoreTile* scores) const {
    static constexpr float kOne = 1.0f;
    ScoreTile& out = *scores;
    out = {};
    out.rows = block.rows;
    out.keys = tile.keys;
    out.row_scale = &kOne;
    out.score_scale = step_.node.scale() * kLog2E;
    out.begin = tile.begin;
    out.end = tile.end;
    out.bias = scratch_.position.fill(block.head, block.place, block.rows, tile.first);
    if (!keys_.int8) {
      out.scores_f32 = static_cast<const float*>(scratch_.products);
      return;
    }
    const uint64_t slot = block.slot + tile.first;
    out.scores_i8 = static_cast<const int32_t*>(scratch_.products);
    out.row_scale = scratch_.query_scale + uint64_t{block.row} * form_.heads + block.head;
    out.row_scale_stride = form_.heads;
    out.key_scale = packed_.key_scale + slot;
    out.value_log2 = packed_.value_log2 + slot;
    out.value_inverse = packed_.value_inverse + slot;
  }

  void soften(const Block& block, const KeyTile& tile, Running* running) const {
    keys_.int8 ? soften<SoftmaxTileI8>(block, tile, running, kernels_.softmax_tile_i8)
               : soften<SoftmaxTileF32>(block, tile, running, kernels_.softmax_tile_f32);
  }
  template <class Args>
  void soften(const Block& block, const KeyTile& tile, Running* running, void (*kernel)(const Args&)) const {
    Args args;
    scores(block, tile, &args.tile);
    args.weights = static_cast<decltype(args.weights)>(scratch_.weights);
    args.max = running->max;
    args.sum = running->sum;
    args.decay = running->decay;
    args.factor = running->factor;
    kernel(args);
  }

  // products = weights . values, [rows, value_width], added to the context.
  void pool(const Block& block, const KeyTile& tile, const Running& running) const {
    const uint64_t width = keys_.value_width();
    const uint8_t* values = packed_.values + (block.slot + tile.first) * width * keys_.element_bytes();
    const uint32_t stride = static_cast<uint32_t>(width);
    if (keys_.int8) {
      multiply_i8({static_cast<const uint8_t*>(scratch_.weights), kKeyTile, block.rows, stride / kPanelRows,
                   tile.used / kGroupCols, reinterpret_cast<const int8_t*>(values), uint64_t{tile.room} * kPanelRows,
                   nullptr, static_cast<int32_t*>(scratch_.products), stride, false, nullptr, 0});
      kernels_.pool_tile_i8({static_cast<const int32_t*>(scratch_.products), stride, block.rows, keys_.value_dim,
                             running.decay, running.factor, context(block), scratch_.context_stride});
    } else {
      multiply_visible(block, tile, reinterpret_cast<const float*>(values));
      kernels_.pool_tile_f32({static_cast<const float*>(scratch_.products), stride, block.rows, keys_.value_dim,
                              running.decay, running.factor, context(block), scratch_.context_stride});
    }
  }

  // Rows that see the same keys are multiplied together, with those keys only: 0 * NaN would be NaN.
  void multiply_visible(const Block& block, const KeyTile& tile, const float* values) const {
    const uint32_t width = static_cast<uint32_t>(keys_.value_width());
    const float* weights = static_cast<const float*>(scratch_.weights);
    float* products = static_cast<float*>(scratch_.products);
    for (uint32_t r = 0, next = 0; r < block.rows; r = next) {
      const uint32_t begin = tile.begin[r];
      const uint32_t end = tile.end[r];
      while (next < block.rows && tile.begin[next] == begin && tile.end[next] == end) ++next;
      float* out = products + uint64_t{r} * width;
      if (begin >= end) {
        std::memset(out, 0, (next - r) * uint64_t{width} * sizeof(float));
        continue;
      }
      multiply_f32({weights + r * kKeyTile + begin, kKeyTile, next - r, width / kPanelRows, end - begin,
                    values + begin * kPanelRows, ElementFormat::kF32, uint64_t{tile.room} * kPanelRows, out, width});
    }
  }

  // Products of any size, cut into what the kernels take. (Arguments are changed where they are: a copy of what was just
  // written waits for it.)
  void multiply_i8(MultiplyI8 piece) const {
    const uint8_t* const a = piece.a;
    const int8_t* const w = piece.w;
    const int32_t* const sums = piece.sums;
    int32_t* const c = piece.c;
    const Pieces rows(piece.rows, kernels_.tile_rows);
    const Pieces panels(piece.panels, kernels_.tile_panels);
    for (uint64_t p = 0; p < panels.count(); ++p) {
      piece.panels = panels.size(p);
      piece.w = w + panels.begin(p) * piece.w_panel_stride;
      piece.sums = sums ? sums + panels.begin(p) * kPanelRows : nullptr;
      for (uint64_t r = 0; r < rows.count(); ++r) {
        piece.rows = rows.size(r);
        piece.a = a + rows.begin(r) * piece.a_stride;
        piece.c = c + uint64_t{rows.begin(r)} * piece.c_stride + panels.begin(p) * kPanelRows;
        kernels_.multiply_i8(piece);
      }
    }
  }
  void multiply_f32(const MultiplyF32& whole) const {
    for (uint32_t r = 0; r < whole.rows; r += kFloatRows) {
      for (uint32_t p = 0; p < whole.panels; p += kFloatPanels) {
        MultiplyF32 piece = whole;
        piece.rows = whole.rows - r < kFloatRows ? whole.rows - r : kFloatRows;
        piece.panels = whole.panels - p < kFloatPanels ? whole.panels - p : kFloatPanels;
        piece.a += r * whole.a_stride;
        piece.w = static_cast<const float*>(whole.w) + p * whole.w_panel_stride;
        piece.c += uint64_t{r} * whole.c_stride + p * kPanelRows;
        kernels_.multiply_f32(piece);
      }
    }
  }

  // A second walk over all keys, now that the sums are known: nothing that the first one made is touched.
  void tap(const Block& block, const Running& running) const {
    float weights[kKeyTile];
    KeyTile tile;
    for (uint32_t first = 0; first < block.keys; first += kKeyTile) {
      make_tile(block, first, &tile);
      score(block, tile);
      ScoreTile all;
      scores(block, tile, &all);
      for (uint32_t r = 0; r < block.rows; ++r) {
        ScoreTile row = all;
        row.rows = 1;
        row.scores_i8 = all.scores_i8 ? all.scores_i8 + r * kKeyTile : nullptr;
        row.scores_f32 = all.scores_f32 ? all.scores_f32 + r * kKeyTile : nullptr;
        row.row_scale += r * all.row_scale_stride;
        row.bias = all.bias ? all.bias + r * kKeyTile : nullptr;
        row.begin += r;
        row.end += r;
        kernels_.weigh_tile({row, running.max + r, running.sum + r, weights});
        step_.tap(step_.tap_context, step_.node_index, block.sequence, block.head, block.first + r, first, tile.keys,
                  weights);
      }
    }
  }

  const Step& step_;
  const Kernels& kernels_;
  const AttentionForm& form_;
  const KeyForm& keys_;
  const PackedKeys& packed_;
  QueryScratch& scratch_;
};

void project_queries(const Step& step, const AttentionForm& form, RowRange range, const QueryScratch& scratch) {
  const KeyForm& keys = form.keys.form;
  const FloatRows in = block_input(step, step.in[0], range, scratch.block);
  apply_or_copy(step.kernels, form.query, in, store_to(scratch.query, scratch.query_stride), scratch.linear);
  if (!keys.int8) return;
  step.kernels.quantize_heads({scratch.query, scratch.query_stride, range.count, form.heads, keys.key_dim,
                               step.kernels.byte_flip, scratch.query_bytes, scratch.query_scale});
}

// All heads of the rows [row, row + count) of the tile, which are rows of one sequence from position `first` on.
void attend_part(const Step& step, const AttentionForm& form, const KeyStore& store, Attend* attend, Block block,
                 uint32_t count) {
  const Tensor& in = step.in[0];
  const uint32_t queries = in.begin(block.sequence + 1) - in.begin(block.sequence);
  const uint32_t first_row = block.row;
  const uint32_t first_place = block.first;
  block.keys = store.keys(block.sequence);
  block.room = store.room(block.sequence);
  for (uint32_t done = 0; done < count; done += block.rows) {
    block.row = first_row + done;
    block.first = first_place + done;
    block.rows = count - done < kBlockRows ? count - done : kBlockRows;
    find_visible(step.node, queries, &block);
    for (block.head = 0; block.head < form.heads; ++block.head) {
      block.slot = block.head / form.group() * store.packed.slots + store.slot(block.sequence);
      attend->run(block);
    }
  }
}

}  // namespace

void attend_tile(const Step& step, const AttentionForm& form, RowRange range, uint8_t* memory) {
  Carver carver(memory);
  QueryScratch scratch = take_query_scratch(carver, step.node, form, step.tile_rows);
  scratch.position.start(step);
  const KeyStore store = key_store(step, form);
  project_queries(step, form, range, scratch);
  Attend attend(step, form, store.packed, scratch);
  const Tensor& in = step.in[0];
  const uint32_t end = range.begin + range.count;
  Block block{};
  block.sequence = sequence_of(in, step.sequences, range.begin);
  for (uint32_t row = range.begin; row < end; ++block.sequence) {
    const uint32_t next = in.begin(block.sequence + 1);
    const uint32_t stop = next < end ? next : end;
    block.row = row - range.begin;
    block.first = row - in.begin(block.sequence);
    attend_part(step, form, store, &attend, block, stop - row);
    row = stop;
  }
  finish_block(step, range, form.output, {scratch.context, scratch.context_stride, range.count}, scratch.last,
               scratch.block);
}

}  // namespace heed
