// States whose tables verify and whose meaning is wrong: refused, with what is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <functional>

#include "support/test_session.h"

namespace heed::testing {
namespace {

using schema::OpKind;
using schema::StateKind;

schema::StateT keys(StateKind kind) {
  schema::StateT state;
  state.kind = kind;
  state.heads = 1;
  state.features = state.value_features = 8;
  return state;
}

schema::StateT row(uint32_t features) {
  schema::StateT state;
  state.kind = StateKind::recurrent;
  state.features = features;
  return state;
}

// One row of 8 features, which `change` may feed to what it likes; the output is the row itself.
std::pair<heed_status, std::string> opened(const std::function<void(ModelBuilder&, uint16_t)>& change) {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 8, 1);
  change(builder, x);
  builder.output("y", x);
  const AlignedBytes file = builder.finish();
  heed_model model;
  heed_diagnostic diagnostic{};
  const heed_status status = heed_open(file.data(), file.size(), 0, &model, &diagnostic);
  return {status, diagnostic.what ? diagnostic.what : ""};
}

schema::NodeT with_state(int32_t id) {
  schema::NodeT node;
  node.state = id;
  return node;
}

schema::NodeT attention(int32_t state) {
  schema::NodeT node = with_state(state);
  node.heads = node.kv_heads = 1;
  node.head_dim = node.value_dim = 8;
  return node;
}

}  // namespace

TEST_CASE("States of a kind or size that cannot be are refused") {
  using Change = std::function<void(schema::StateT&)>;
  const auto refused = [](StateKind kind, const Change& change) {
    return opened([&](ModelBuilder& b, uint16_t) {
      schema::StateT state = kind == StateKind::recurrent ? row(8) : keys(kind);
      change(state);
      b.state(state);
    });
  };
  for (StateKind kind : {StateKind::kv_append, StateKind::kv_fixed, StateKind::recurrent}) {
    CHECK(refused(kind, [](auto&) {}).first == HEED_OK);
    CHECK(refused(kind, [](auto& s) { s.features = 0; }).first == HEED_BAD_SHAPE);
    CHECK(refused(kind, [](auto& s) { s.features = 0xffffffff; }).first == HEED_BAD_SHAPE);
    CHECK(refused(kind, [](auto& s) { s.rows = 0xffffffff; }).first == HEED_BAD_SHAPE);
    CHECK(refused(kind, [](auto& s) { s.format = schema::Format::f16; }).first == HEED_UNSUPPORTED);
    CHECK(refused(kind, [](auto& s) { s.score = static_cast<schema::ScoreKind>(200); }).first == HEED_UNSUPPORTED);
  }
  CHECK(refused(StateKind::kv_append, [](auto& s) { s.heads = 0; }).second == "heads of a state");
  CHECK(refused(StateKind::kv_append, [](auto& s) { s.value_features = 0; }).second == "value_features of a state");
  CHECK(refused(StateKind::kv_append, [](auto& s) { s.heads = 1u << 31; }).second == "heads of a state");
  CHECK(refused(StateKind::recurrent, [](auto& s) { s.heads = 1; }).first == HEED_BAD_SHAPE);
  for (StateKind kind : {StateKind::kv_ring, StateKind::memory, static_cast<StateKind>(99)}) {
    CHECK(refused(kind, [](auto&) {}).second == "kind of a state");
  }
  CHECK(opened([](ModelBuilder& b, uint16_t) {
          b.state(row(8));
          b.state(row(9));
          b.model.states[1]->name = b.model.states[0]->name;
        }).second == "two states with one name");
}

TEST_CASE("A state has one writer in a graph, and its kind is the op's") {
  CHECK(opened([](ModelBuilder& b, uint16_t x) {
          const int32_t id = b.state(row(8));
          b.nodes(OpKind::StoreState, {x}, 0, with_state(id));
          b.nodes(OpKind::StoreState, {x}, 0, with_state(id));
        }).second == "state written twice");
  CHECK(opened([](ModelBuilder& b, uint16_t x) {
          const int32_t id = b.state(keys(StateKind::kv_append));
          b.node(OpKind::Attention, {x}, attention(id));
          b.node(OpKind::Attention, {x}, attention(id));
        }).second == "state written twice");
  CHECK(opened([](ModelBuilder& b, uint16_t x) {
          b.nodes(OpKind::StoreState, {x}, 0, with_state(b.state(row(7))));
        }).second == "features of a state");
  CHECK(opened([](ModelBuilder& b, uint16_t) { b.node(OpKind::LoadState, {}, with_state(-1)); }).second == "state missing");
  CHECK(opened([](ModelBuilder& b, uint16_t) {
          b.node(OpKind::LoadState, {}, with_state(b.state(keys(StateKind::kv_fixed))));
        }).second == "kind of a state");
  CHECK(opened([](ModelBuilder& b, uint16_t x) {
          b.nodes(OpKind::KeyValue, {x}, 0, with_state(b.state(keys(StateKind::kv_append))));
        }).second == "kind of a state");
  CHECK(opened([](ModelBuilder& b, uint16_t x) { b.node(OpKind::Attention, {x}, attention(b.state(row(8)))); }).second ==
        "kind of a state");
  CHECK(opened([](ModelBuilder& b, uint16_t x) {
          schema::NodeT node = attention(b.state(keys(StateKind::kv_append)));
          node.head_dim = 4;
          node.heads = 2;
          b.node(OpKind::Attention, {x}, node);
        }).second == "head_dim of a state");
  CHECK(opened([](ModelBuilder& b, uint16_t x) {
          schema::StateT state = keys(StateKind::kv_append);
          state.score = schema::ScoreKind::additive;
          b.node(OpKind::Attention, {x}, attention(b.state(state)));
        }).second == "score of a state");
  CHECK(opened([](ModelBuilder& b, uint16_t x) {
          schema::NodeT node = attention(b.state(keys(StateKind::kv_fixed)));
          node.key = b.matrix(random_plain(8, 8, 1), schema::Format::f32);
          b.node(OpKind::Attention, {x}, node);
        }).second == "key and value belong to the node that writes the state");
  CHECK(opened([](ModelBuilder& b, uint16_t x) {
          const int32_t id = b.state(keys(StateKind::kv_fixed));
          b.nodes(OpKind::KeyValue, {x}, 0, with_state(id));
          b.node(OpKind::Attention, {x}, attention(id));
        }).first == HEED_OK);
  // Outputs that an op does not make, and one that nobody named.
  CHECK(opened([](ModelBuilder& b, uint16_t x) { b.nodes(OpKind::StoreState, {x}, 1, with_state(b.state(row(8)))); }).first ==
        HEED_BAD_GRAPH);
  CHECK(opened([](ModelBuilder& b, uint16_t) { b.nodes(OpKind::LoadState, {}, 0, with_state(b.state(row(8)))); }).first ==
        HEED_BAD_GRAPH);
}

}  // namespace heed::testing
