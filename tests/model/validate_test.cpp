// Files whose tables verify and whose meaning is wrong: each gets its status and the place of the fault.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "support/encoder.h"
#include "support/test_session.h"

namespace heed::testing {
namespace {

constexpr int kEmbed = 0;
constexpr int kAttention = 1;
constexpr int kFeedForward = 2;

struct Refusal {
  heed_status status;
  heed_diagnostic diagnostic;
};

Refusal open_changed(const std::function<void(ModelBuilder&)>& change, uint32_t flags = 0) {
  ModelBuilder builder = encoder();
  change(builder);
  const AlignedBytes file = builder.finish();
  Refusal refusal{};
  heed_model model;
  refusal.status = heed_open(file.data(), file.size(), flags, &model, &refusal.diagnostic);
  CHECK((refusal.status == HEED_OK) == (model.root != nullptr));
  return refusal;
}

schema::NodeT& node(ModelBuilder& builder, int index) { return *builder.graph().nodes[static_cast<size_t>(index)]; }

}  // namespace

TEST_CASE("FB-02: ids out of range are refused with the node and the number") {
  for (int id : {9999, -2, 65535, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    const Refusal refusal = open_changed([&](ModelBuilder& b) { node(b, kAttention).key = id; });
    CHECK(refusal.status == HEED_BAD_GRAPH);
    CHECK(refusal.diagnostic.node == kAttention);
    CHECK(refusal.diagnostic.found == id);
  }
  for (uint16_t value : {uint16_t{9999}, uint16_t{65535}}) {
    CHECK(open_changed([&](ModelBuilder& b) { node(b, 1).inputs[0] = value; }).status == HEED_BAD_GRAPH);
    CHECK(open_changed([&](ModelBuilder& b) { node(b, 1).outputs[0] = value; }).status == HEED_BAD_GRAPH);
    CHECK(open_changed([&](ModelBuilder& b) { b.graph().outputs[0]->value = value; }).status == HEED_BAD_GRAPH);
    CHECK(open_changed([&](ModelBuilder& b) { b.graph().inputs[0]->value = value; }).status == HEED_BAD_GRAPH);
  }
  CHECK(open_changed([&](ModelBuilder& b) { node(b, 1).state = 0; }).status == HEED_BAD_GRAPH);
}

TEST_CASE("FB-03: a weight or input that an op needs may not be missing, an optional one may") {
  CHECK(open_changed([](ModelBuilder& b) { node(b, kFeedForward).down = -1; }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { node(b, kEmbed).token = -1; }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { node(b, kAttention).inputs.clear(); }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { node(b, kAttention).norm_out = -1; }).status == HEED_OK);
  CHECK(open_changed([](ModelBuilder& b) { node(b, kEmbed).position = -1; }).status == HEED_OK);
}

TEST_CASE("A value has to be made once, before it is used") {
  const Refusal early = open_changed([](ModelBuilder& b) { std::swap(b.graph().nodes[1], b.graph().nodes[2]); });
  CHECK(early.status == HEED_BAD_GRAPH);
  CHECK(early.diagnostic.node == 1);
  CHECK(open_changed([](ModelBuilder& b) { node(b, 2).outputs = node(b, 1).outputs; }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { node(b, 1).outputs = node(b, 1).inputs; }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { b.graph().values = 3; }).status == HEED_BAD_GRAPH);
}

TEST_CASE("An op that is not built is refused by name, an unknown one too") {
  const Refusal conv = open_changed([](ModelBuilder& b) { node(b, 2).op = schema::OpKind::Conv1d; });
  CHECK(conv.status == HEED_UNSUPPORTED_OP);
  CHECK(conv.diagnostic.node == 2);
  CHECK(std::string(conv.diagnostic.what) == "Conv1d");
  CHECK(open_changed([](ModelBuilder& b) { node(b, 2).op = static_cast<schema::OpKind>(200); }).status ==
        HEED_UNSUPPORTED_OP);
}

TEST_CASE("Attributes that an op does not have are refused by name") {
  const auto refused = [](const char* name, const std::function<void(schema::NodeT&)>& set, int index = kAttention) {
    const Refusal refusal = open_changed([&](ModelBuilder& b) {
      schema::StateT state;
      state.kind = schema::StateKind::recurrent;
      state.features = 1;
      b.state(state);
      set(node(b, index));
    });
    INFO(name);
    CHECK(refusal.status == HEED_UNSUPPORTED);
    CHECK(refusal.diagnostic.node == index);
    CHECK(std::string(refusal.diagnostic.what ? refusal.diagnostic.what : "") == name);
  };
  refused("score", [](auto& n) { n.score = schema::ScoreKind::location; });
  refused("position_kind", [](auto& n) { n.position_kind = schema::PositionKind::rope_half; });
  refused("weighting", [](auto& n) { n.weighting = schema::WeightingKind::hard; });
  refused("soft_cap", [](auto& n) { n.soft_cap = 30; });
  refused("zero_key", [](auto& n) { n.zero_key = true; });
  refused("norm_query", [](auto& n) { n.norm_query = 0; });
  refused("key_bias", [](auto& n) { n.key_bias = 0; });
  refused("sink", [](auto& n) { n.sink = 0; });
  refused("position_weight", [](auto& n) { n.position_weight = 0; }, kFeedForward);
  refused("state", [](auto& n) { n.state = 0; }, kFeedForward);
  refused("activation", [](auto& n) { n.activation = schema::ActivationKind::relu; });
  refused("causal", [](auto& n) { n.causal = true; }, kFeedForward);
  refused("heads", [](auto& n) { n.heads = 2; }, kFeedForward);
  refused("activation", [](auto& n) { n.activation = static_cast<schema::ActivationKind>(77); }, kFeedForward);
  refused("norm_kind", [](auto& n) { n.norm_kind = static_cast<schema::NormKind>(9); }, kFeedForward);
}

TEST_CASE("Shapes have to fit each other") {
  const auto bad = [](const std::function<void(ModelBuilder&)>& change) {
    CHECK(open_changed(change).status == HEED_BAD_SHAPE);
  };
  bad([](ModelBuilder& b) { node(b, kAttention).heads = 3; });
  bad([](ModelBuilder& b) { node(b, kAttention).heads = 0; });
  bad([](ModelBuilder& b) { node(b, kAttention).head_dim = 16; });
  bad([](ModelBuilder& b) { node(b, kAttention).head_dim = 0x80000001u; });
  bad([](ModelBuilder& b) { std::swap(node(b, kFeedForward).up, node(b, kFeedForward).down); });
  bad([](ModelBuilder& b) { b.graph().inputs[0]->max_rows = b.graph().inputs[1]->max_rows = 97; });
  bad([](ModelBuilder& b) { b.graph().inputs[0]->max_rows = 0; });
  bad([](ModelBuilder& b) { b.graph().inputs[0]->max_rows = 0xffffffffu; });
  bad([](ModelBuilder& b) { b.graph().inputs[0]->features = 2; });
}

TEST_CASE("FB-10: offsets and sizes that wrap around are refused") {
  for (uint64_t at : {~uint64_t{0} - 15, ~uint64_t{0} - 63, uint64_t{1} << 32, uint64_t{1} << 63}) {
    for (uint64_t schema::WeightT::*part : {&schema::WeightT::data, &schema::WeightT::bias, &schema::WeightT::scales,
                                            &schema::WeightT::sums}) {
      const Refusal refusal = open_changed([&](ModelBuilder& b) {
        (*b.model.weights[static_cast<size_t>(node(b, kAttention).query)]).*part = at / 64 * 64;
      });
      CHECK(refusal.status == HEED_BAD_WEIGHT);
      CHECK(refusal.diagnostic.weight >= 0);
    }
  }
  const auto sides = [](uint32_t rows, uint32_t cols) {
    return open_changed([&](ModelBuilder& b) {
             schema::WeightT& table = *b.model.weights[static_cast<size_t>(node(b, kEmbed).token)];
             table.rows = rows;
             table.cols = cols;
             table.data_bytes = uint32_t(rows * cols);
           }).status;
  };
  CHECK(sides(65536, 65536) != HEED_OK);
  CHECK(sides(0x80000000u, 2) != HEED_OK);
  CHECK(sides(0, 32) == HEED_BAD_SHAPE);
  CHECK(sides(50, 0) == HEED_BAD_SHAPE);
}

TEST_CASE("FB-11: data, scales and sums have to be as long as the shape says") {
  const auto weight_status = [](const std::function<void(schema::WeightT&)>& change) {
    return open_changed([&](ModelBuilder& b) {
             change(*b.model.weights[static_cast<size_t>(node(b, kAttention).query)]);
           }).status;
  };
  CHECK(weight_status([](auto& w) { w.data_bytes = 10; }) == HEED_BAD_WEIGHT);
  CHECK(weight_status([](auto& w) { w.data_bytes += 1; }) == HEED_BAD_WEIGHT);
  CHECK(weight_status([](auto& w) { w.data_bytes -= 1; }) == HEED_BAD_WEIGHT);
  CHECK(weight_status([](auto& w) { w.data += 4; }) == HEED_BAD_WEIGHT);
  CHECK(weight_status([](auto& w) { w.format = schema::Format::q4g32; }) == HEED_UNSUPPORTED);
  CHECK(weight_status([](auto& w) { w.format = static_cast<schema::Format>(9); }) == HEED_UNSUPPORTED);
  CHECK(weight_status([](auto& w) { w.layout = static_cast<schema::Layout>(9); }) == HEED_UNSUPPORTED);
  CHECK(open_changed([](ModelBuilder& b) {
          const Plain wide{1, 66001, std::vector<float>(66001, 1.0f)};
          b.matrix(wide, schema::Format::q8c);
        }).status == HEED_BAD_SHAPE);
}

TEST_CASE("QNT-16: a scale that is 0, NaN, infinite or negative is refused at open with its weight") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (float scale : {0.0f, std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, -1.0f}) {
    int32_t id = -1;
    const Refusal refusal = open_changed([&](ModelBuilder& b) {
      id = node(b, kFeedForward).up;
      const uint64_t at = b.model.weights[static_cast<size_t>(id)]->scales + 4 * 7;
      std::memcpy(b.region.data() + at, &scale, 4);
    });
    CHECK(refusal.status == HEED_BAD_WEIGHT);
    CHECK(refusal.diagnostic.weight == id);
    CHECK(refusal.diagnostic.found == 7);
  }
}

TEST_CASE("SHAPE-07: a sum that no row of the weight could have is refused") {
  for (int32_t sum : {127 * 32 + 1, -127 * 32 - 1, std::numeric_limits<int32_t>::min()}) {
    CHECK(open_changed([&](ModelBuilder& b) {
            const auto& weight = *b.model.weights[static_cast<size_t>(node(b, kAttention).query)];
            std::memcpy(b.region.data() + weight.sums, &sum, 4);
          }).status == HEED_BAD_WEIGHT);
  }
}

TEST_CASE("A changed weight is found by its checksum when weights are checked") {
  const auto change = [](ModelBuilder& b) { b.region[b.model.weights[3]->data] ^= 1; };
  CHECK(open_changed(change).status == HEED_OK);
  const Refusal refusal = open_changed(change, HEED_OPEN_CHECK_WEIGHTS);
  CHECK(refusal.status == HEED_CORRUPT);
  CHECK(refusal.diagnostic.weight == 3);
  CHECK(refusal.diagnostic.byte_offset > 0);
}

TEST_CASE("Names are unique") {
  CHECK(open_changed([](ModelBuilder& b) { b.graph().inputs[1]->name = "tokens"; }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { b.graph().outputs[1]->name = "embedding"; }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) {
          b.model.graphs.push_back(std::make_unique<schema::GraphT>(*b.model.graphs[0]));
        }).status == HEED_BAD_GRAPH);
}

TEST_CASE("Bounds of the format: graphs, ports, nodes, values live at the same time") {
  CHECK(open_changed([](ModelBuilder& b) { b.model.graphs.clear(); }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { b.graph().inputs.clear(); }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { b.graph().outputs.clear(); }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { b.graph().inputs[0]->axis = 8; }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([](ModelBuilder& b) { b.graph().values = 8193; }).status == HEED_TOO_LARGE);
  const Refusal crowded = open_changed([](ModelBuilder& b) {
    const uint16_t x = node(b, kEmbed).outputs[0];
    std::vector<uint16_t> made;
    for (int i = 0; i < 60; ++i) made.push_back(b.node(schema::OpKind::Activation, {x}));
    for (uint16_t value : made) b.node(schema::OpKind::Activation, {value});
  });
  CHECK(crowded.status == HEED_TOO_LARGE);
}

TEST_CASE("Numbers of a node that are not finite are refused") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(open_changed([&](ModelBuilder& b) { node(b, kAttention).scale = nan; }).status == HEED_BAD_GRAPH);
  CHECK(open_changed([&](ModelBuilder& b) { node(b, kAttention).epsilon = -1; }).status == HEED_BAD_GRAPH);
}

TEST_CASE("A tokenizer whose tables do not fit each other is refused") {
  const auto with = [](const std::function<void(schema::TokenizerT&)>& change) {
    return open_changed([&](ModelBuilder& b) {
             b.model.tokenizer = std::make_unique<schema::TokenizerT>();
             schema::TokenizerT& t = *b.model.tokenizer;
             t.kind = schema::TokenizerKind::wordpiece;
             t.vocabulary = 2;
             t.piece_bytes = {'a', 'b', 'c'};
             t.piece_ends = {1, 3};
             t.slots = {0, 1, 2, 0};
             t.unknown = 1;
             t.prefix = {0};
             change(t);
           }).status;
  };
  CHECK(with([](auto&) {}) == HEED_OK);
  CHECK(with([](auto& t) { t.piece_ends = {3, 1}; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.piece_ends = {1}; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.piece_ends = {1, 4}; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.slots = {0, 1, 2}; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.slots.clear(); }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.unknown = 2; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.suffix = {2}; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.kind = static_cast<schema::TokenizerKind>(5); }) == HEED_UNSUPPORTED);
  CHECK(with([](auto& t) { t.kind = schema::TokenizerKind::unigram; }) == HEED_CORRUPT);  // no scores
  CHECK(with([](auto& t) { t.byte_pieces = {0}; }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.byte_pieces.assign(256, 1000); }) == HEED_CORRUPT);
  CHECK(with([](auto& t) { t.merges = {schema::Merge(0, 0, 0, 0)}; }) == HEED_CORRUPT);  // no hash table
}

}  // namespace heed::testing
