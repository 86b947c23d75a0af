// Small model files made in memory, with a packer of their own: the tests' independent way to the file format.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "heed/heed.h"
#include "model_generated.h"

namespace heed::testing {

template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t{64}); }
  bool operator==(const AlignedAllocator&) const { return true; }
};
using AlignedBytes = std::vector<uint8_t, AlignedAllocator<uint8_t>>;

// A matrix in plain rows.
struct Plain {
  uint32_t rows = 0;
  uint32_t cols = 0;
  std::vector<float> values;
  float& at(uint32_t r, uint32_t c) { return values[size_t{r} * cols + c]; }
  float at(uint32_t r, uint32_t c) const { return values[size_t{r} * cols + c]; }
};

// About normally distributed; the same numbers on every machine, so made of integers.
inline Plain random_plain(uint32_t rows, uint32_t cols, uint32_t seed, float amplitude = 1.0f) {
  std::mt19937 generator(seed);
  Plain plain{rows, cols, std::vector<float>(size_t{rows} * cols)};
  for (float& x : plain.values) {
    int32_t sum = -6 * 65536;
    for (int i = 0; i < 6; ++i) {
      const uint32_t bits = generator();
      sum += static_cast<int32_t>(bits >> 16) + static_cast<int32_t>(bits & 0xffff);
    }
    x = static_cast<float>(sum) * 0x1p-16f * amplitude;
  }
  return plain;
}

// Bytes around a finished FlatBuffer: prefix, checksum, padding, weights.
inline AlignedBytes seal(const uint8_t* tables, size_t count, const std::vector<uint8_t>& region) {
  AlignedBytes file(tables, tables + count);
  const uint64_t checksum = XXH64(tables, count, 0);
  for (int i = 0; i < 8; ++i) file.push_back(static_cast<uint8_t>(checksum >> 8 * i));
  file.resize((file.size() + 63) / 64 * 64);
  file.insert(file.end(), region.begin(), region.end());
  return file;
}
inline size_t table_bytes(const AlignedBytes& file) {
  uint32_t length;
  std::memcpy(&length, file.data(), 4);
  return size_t{4} + length;
}
// Makes the tables' checksum right again after a change.
inline void reseal(AlignedBytes& file) {
  const uint64_t checksum = XXH64(file.data(), table_bytes(file), 0);
  std::memcpy(file.data() + table_bytes(file), &checksum, 8);
}

class ModelBuilder {
 public:
  using Format = schema::Format;
  using Layout = schema::Layout;

  ModelBuilder() {
    model.version = 1;
    add_graph("main");
  }

  schema::ModelT model;
  std::vector<uint8_t> region;
  uint64_t part_bytes = 0;    // of the region, without the gaps
  std::vector<Plain> stored;  // of each weight, what the file says: the original after rounding to its format

  schema::GraphT& graph() { return *model.graphs.back(); }
  void add_graph(const std::string& name) {
    model.graphs.push_back(std::make_unique<schema::GraphT>());
    graph().name = name;
  }

  uint16_t input(const std::string& name, schema::ElementType type, uint32_t features, uint32_t max_rows,
                 uint16_t axis = 0, bool optional = false) {
    auto input = std::make_unique<schema::GraphInputT>();
    input->name = name;
    input->value = graph().values++;
    input->type = type;
    input->axis = axis;
    input->features = features;
    input->max_rows = max_rows;
    input->optional = optional;
    graph().inputs.push_back(std::move(input));
    return graph().inputs.back()->value;
  }
  uint16_t ids(const std::string& name, uint32_t max_rows, uint16_t axis = 0, bool optional = false) {
    return input(name, schema::ElementType::i32, 1, max_rows, axis, optional);
  }
  uint16_t floats(const std::string& name, uint32_t features, uint32_t max_rows, uint16_t axis = 0) {
    return input(name, schema::ElementType::f32, features, max_rows, axis);
  }

  // Adds a node with one output and returns its value id.
  uint16_t node(schema::OpKind op, std::vector<uint16_t> inputs, schema::NodeT attributes = {}) {
    return nodes(op, std::move(inputs), 1, std::move(attributes))[0];
  }
  // The same with any number of outputs.
  std::vector<uint16_t> nodes(schema::OpKind op, std::vector<uint16_t> inputs, uint32_t outputs,
                              schema::NodeT attributes = {}) {
    attributes.op = op;
    attributes.inputs = std::move(inputs);
    attributes.outputs.clear();
    for (uint32_t i = 0; i < outputs; ++i) attributes.outputs.push_back(graph().values++);
    graph().nodes.push_back(std::make_unique<schema::NodeT>(std::move(attributes)));
    return graph().nodes.back()->outputs;
  }

  int32_t state(schema::StateT state) {
    if (state.name.empty()) state.name = "state " + std::to_string(model.states.size());
    model.states.push_back(std::make_unique<schema::StateT>(std::move(state)));
    return static_cast<int32_t>(model.states.size()) - 1;
  }

  void output(const std::string& name, uint16_t value) {
    auto output = std::make_unique<schema::GraphOutputT>();
    output->name = name;
    output->value = value;
    graph().outputs.push_back(std::move(output));
  }

  // A matrix in panels, for products.
  int32_t matrix(const Plain& plain, Format format, const std::vector<float>& bias = {},
                 const std::vector<float>& input_scale = {}) {
    return add(plain, format, Layout::panel16, bias, input_scale);
  }
  // A table in rows, for Embed.
  int32_t table(const Plain& plain, Format format) { return add(plain, format, Layout::rows, {}, {}); }
  int32_t norm(const std::vector<float>& gain, const std::vector<float>& shift = {}) {
    return add({1, static_cast<uint32_t>(gain.size()), gain}, Format::f32, Layout::rows, shift, {});
  }

  AlignedBytes finish() {
    model.weight_region_bytes = region.size();
    heed_flatbuffers::FlatBufferBuilder builder;
    schema::FinishSizePrefixedModelBuffer(builder, schema::CreateModel(builder, &model));
    return seal(builder.GetBufferPointer(), builder.GetSize(), region);
  }

  // f16 bits, to nearest even; the tests use no numbers outside f16's normal range.
  static uint16_t half(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude < 0x38800000u) return static_cast<uint16_t>(bits >> 16 & 0x8000u);
    const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1);
    return static_cast<uint16_t>((bits >> 16 & 0x8000u) | ((rounded - 0x38000000u) >> 13));
  }
  static float from_half(uint16_t h) {
    if ((h & 0x7fffu) == 0) return 0.0f;
    const uint32_t bits = (h & 0x8000u) << 16 | (((h & 0x7fffu) << 13) + 0x38000000u);
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  }

 private:
  template <class T>
  uint64_t append(const std::vector<T>& values) {
    const uint64_t at = region.size();
    part_bytes += values.size() * sizeof(T);
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(values.data());
    region.insert(region.end(), bytes, bytes + values.size() * sizeof(T));
    region.resize((region.size() + 63) / 64 * 64);
    return at;
  }

  // Where element (r, c) goes in panels: `group` inputs of an output lie together.
  static size_t place(const Plain& plain, Layout layout, uint32_t r, uint32_t c, uint32_t group) {
    if (layout == Layout::rows) return size_t{r} * plain.cols + c;
    const size_t groups = (plain.cols + group - 1) / group;
    return ((r / 16 * groups + c / group) * 16 + r % 16) * group + c % group;
  }
  static size_t count(const Plain& plain, Layout layout, uint32_t group) {
    if (layout == Layout::rows) return size_t{plain.rows} * plain.cols;
    return size_t{(plain.rows + 15) / 16 * 16} * ((plain.cols + group - 1) / group * group);
  }

  void add_int8(const Plain& plain, schema::WeightT* weight, Plain* kept) {
    std::vector<int8_t> data(count(plain, weight->layout, 4));
    std::vector<float> scales(plain.rows);
    std::vector<int32_t> sums(plain.rows);
    for (uint32_t r = 0; r < plain.rows; ++r) {
      float most = 0;
      for (uint32_t c = 0; c < plain.cols; ++c) most = std::max(most, std::abs(plain.at(r, c)));
      scales[r] = std::max(most / 127, 0x1p-40f);
      for (uint32_t c = 0; c < plain.cols; ++c) {
        const auto q = static_cast<int8_t>(std::lround(plain.at(r, c) / scales[r]));
        data[place(plain, weight->layout, r, c, 4)] = q;
        sums[r] += q;
        kept->at(r, c) = static_cast<float>(q) * scales[r];
      }
    }
    weight->data = append(data);
    weight->data_bytes = data.size();
    weight->scales = append(scales);
    if (weight->layout == Layout::panel16) weight->sums = append(sums);
  }

  template <class T, class Encode>
  void add_numbers(const Plain& plain, schema::WeightT* weight, const Encode& encode) {
    std::vector<T> data(count(plain, weight->layout, 1));
    for (uint32_t r = 0; r < plain.rows; ++r) {
      for (uint32_t c = 0; c < plain.cols; ++c) data[place(plain, weight->layout, r, c, 1)] = encode(plain.at(r, c));
    }
    weight->data = append(data);
    weight->data_bytes = data.size() * sizeof(T);
  }

  // `input_scale` divides the columns here, as it multiplies the inputs later.
  int32_t add(const Plain& original, Format format, Layout layout, const std::vector<float>& bias,
              const std::vector<float>& input_scale) {
    auto weight = std::make_unique<schema::WeightT>();
    weight->name = "weight" + std::to_string(model.weights.size());
    weight->rows = original.rows;
    weight->cols = original.cols;
    weight->format = format;
    weight->layout = layout;
    Plain plain = original;
    for (uint32_t r = 0; r < plain.rows && !input_scale.empty(); ++r) {
      for (uint32_t c = 0; c < plain.cols; ++c) plain.at(r, c) /= input_scale[c];
    }
    Plain kept = plain;
    if (format == Format::q8c) {
      add_int8(plain, weight.get(), &kept);
    } else if (format == Format::f16) {
      for (float& x : kept.values) x = from_half(half(x));
      add_numbers<uint16_t>(plain, weight.get(), half);
    } else {
      add_numbers<float>(plain, weight.get(), [](float x) { return x; });
    }
    for (uint32_t r = 0; r < plain.rows && !input_scale.empty(); ++r) {
      for (uint32_t c = 0; c < plain.cols; ++c) kept.at(r, c) *= input_scale[c];
    }
    if ((weight->has_bias = !bias.empty())) weight->bias = append(bias);
    if ((weight->has_input_scale = !input_scale.empty())) weight->input_scale = append(input_scale);
    weight->checksum = checksum(*weight, bias.size(), input_scale.size());
    stored.push_back(std::move(kept));
    model.weights.push_back(std::move(weight));
    return static_cast<int32_t>(model.weights.size()) - 1;
  }

  uint64_t checksum(const schema::WeightT& weight, size_t bias, size_t input_scale) const {
    std::vector<uint8_t> all;
    const auto take = [&](uint64_t at, uint64_t bytes) {
      all.insert(all.end(), region.begin() + static_cast<long>(at), region.begin() + static_cast<long>(at + bytes));
    };
    const bool int8 = weight.format == Format::q8c;
    take(weight.data, weight.data_bytes);
    take(weight.bias, bias * 4);
    take(weight.scales, int8 ? weight.rows * 4 : 0);
    take(weight.sums, int8 && weight.layout == Layout::panel16 ? weight.rows * 4 : 0);
    take(weight.input_scale, input_scale * 4);
    return XXH64(all.data(), all.size(), 0);
  }
};

}  // namespace heed::testing
