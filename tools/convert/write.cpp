// The file: u32 length, FlatBuffer, u64 checksum of both, zeros to 64, weight region.
// SPDX-License-Identifier: Apache-2.0
#include "convert/write.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <map>
#include <memory>

#include "error.h"
#include "model/open.h"
#include "quant/panel.h"

namespace heed::tools {
namespace {

struct Piece {
  const void* bytes;
  uint64_t count;
  uint64_t* offset;  // in the weight's table
};

template <class T>
Piece piece(const std::vector<T>& values, uint64_t& offset) {
  return {values.data(), values.size() * sizeof(T), &offset};
}

// In the order of the file and of the checksum.
std::vector<Piece> pieces(const PackedWeight& packed, schema::WeightT& weight) {
  return {piece(packed.data, weight.data), piece(packed.bias, weight.bias), piece(packed.scales, weight.scales),
          piece(packed.sums, weight.sums), piece(packed.input_scale, weight.input_scale)};
}

uint64_t checksum(const std::vector<Piece>& pieces) {
  const std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state(XXH64_createState(), XXH64_freeState);
  XXH64_reset(state.get(), 0);
  for (const Piece& one : pieces) XXH64_update(state.get(), one.bytes, one.count);
  return XXH64_digest(state.get());
}

// Gives every piece its place and returns those to write, in order. Weights that read one input share one input
// scale, which tells the runtime that it need quantize that input only once.
std::vector<Piece> place_weights(schema::ModelT& model, const std::vector<PackedWeight>& weights) {
  std::vector<Piece> to_write;
  std::map<std::vector<float>, uint64_t> input_scales;
  uint64_t end = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    schema::WeightT& weight = *model.weights[i];
    const std::vector<Piece> all = pieces(weights[i], weight);
    for (const Piece& one : all) {
      *one.offset = 0;
      if (one.count == 0) continue;
      *one.offset = end;
      if (one.offset == &weight.input_scale) {
        const auto [known, fresh] = input_scales.emplace(weights[i].input_scale, end);
        *one.offset = known->second;
        if (!fresh) continue;
      }
      to_write.push_back(one);
      end = round_up(end + one.count, kAlignment);
    }
    weight.data_bytes = weights[i].data.size();
    weight.checksum = checksum(all);
  }
  model.weight_region_bytes = end;
  return to_write;
}

// The file up to its weight region.
std::vector<uint8_t> file_head(schema::ModelT& model) {
  model.version = kFormatVersion;
  flatbuffers::FlatBufferBuilder builder(1 << 20);
  schema::FinishSizePrefixedModelBuffer(builder, schema::Model::Pack(builder, &model));
  const uint64_t size = builder.GetSize();
  if (size > kMaxTableBytes) {
    throw Error("the model's tables take " + std::to_string(size) + " bytes, more than the format's " +
                std::to_string(kMaxTableBytes));
  }
  std::vector<uint8_t> head(round_up(size + sizeof(uint64_t), kAlignment));
  std::memcpy(head.data(), builder.GetBufferPointer(), size);
  const uint64_t sum = XXH64(head.data(), size, 0);
  std::memcpy(head.data() + size, &sum, sizeof(sum));
  return head;
}

}  // namespace

void write_model(schema::ModelT& model, const std::vector<PackedWeight>& weights, AtomicFile& file) {
  const std::vector<Piece> to_write = place_weights(model, weights);
  const std::vector<uint8_t> head = file_head(model);
  file.write(head.data(), head.size());
  for (const Piece& one : to_write) {
    file.write(one.bytes, one.count);
    file.pad(kAlignment);
  }
}

}  // namespace heed::tools
