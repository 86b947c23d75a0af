// Guards in the arena: this program has the session's sources of its own, built with HEED_GUARDS, whatever the preset.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "session/plan.h"
#include "support/test_session.h"

namespace heed::testing {
namespace {

// What a mistake does. The address sanitizer, which would end the program at it, is kept from seeing it.
template <class T>
[[gnu::noinline, gnu::no_sanitize_address]] void damage(T* at, T value) {
  *at = value;
}

uint8_t* planted = nullptr;  // a byte that every tile writes to

// A session whose platform keeps what trap says, on kernels in which mistakes can be planted.
struct Guarded {
  explicit Guarded(const AlignedBytes& file, uint32_t rows) : session(file, {.rows = rows, .isa = "ref"}) {
    kernels = *static_cast<const Kernels*>(session.session.kernels);
    session.session.kernels = &kernels;
    session.platform.trap = [](void*, const char* message) { said = message; };
    said.clear();
    planted = nullptr;
  }

  // The end of the arena, where workspace and scratch of the largest node lie.
  uint8_t* end() { return session.arena() + session.memory.total_bytes; }

  // What is said when each tile writes to a byte, and that the run fails at that node.
  std::string written_at(uint8_t* byte, const heed_input& input, int32_t node) {
    said.clear();
    planted = byte;
    kernels.enter = [] { damage(planted, uint8_t{0}); };
    heed_diagnostic diagnostic;
    CHECK(session.run_status({input}, 1, &diagnostic) == HEED_INVALID_ARGUMENT);
    CHECK(diagnostic.node == node);
    kernels.enter = nullptr;
    return said;
  }

  TestSession session;
  Kernels kernels;
  inline static std::string said;
};

AlignedBytes attention_model() {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 32, 8);
  schema::NodeT attention;
  attention.name = "look";
  attention.query = attention.key = attention.value = attention.output =
      builder.matrix(random_plain(32, 32, 1), schema::Format::q8c);
  attention.heads = attention.kv_heads = 2;
  attention.head_dim = attention.value_dim = 16;
  builder.output("y", builder.node(schema::OpKind::Attention, {x}, attention));
  return builder.finish();
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("ARENA-03: a kernel that writes one float too many is trapped, in the node that ran it") {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 16, 8);
  const uint16_t y = builder.node(schema::OpKind::Mul, {x, x});
  builder.output("z", builder.node(schema::OpKind::Add, {x, y}));
  const AlignedBytes file = builder.finish();
  Guarded guarded(file, 8);
  // Three rows where eight are planned for: the guard stands behind the third.
  const Plain input = random_plain(3, 16, 2);
  const Output right = guarded.session.run({floats_input("x", input)});
  CHECK(right.at(2, 15) == input.at(2, 15) + input.at(2, 15) * input.at(2, 15));
  CHECK(Guarded::said == "");
  static void (*real)(const Combine&) = guarded.kernels.add;
  guarded.kernels.add = [](const Combine& a) {
    real(a);
    damage(a.out + a.count, 0.0f);
  };
  heed_diagnostic diagnostic;
  CHECK(guarded.session.run_status({floats_input("x", input)}, 1, &diagnostic) == HEED_INVALID_ARGUMENT);
  CHECK(diagnostic.node == 1);
  INFO(Guarded::said);
  CHECK(contains(Guarded::said, "node 1 (Add)"));
  CHECK(contains(Guarded::said, "output 0"));
}

TEST_CASE("Writes outside of scratch, workspace, inputs and outputs are told apart") {
  const AlignedBytes file = attention_model();
  Guarded guarded(file, 8);
  const Plain rows = random_plain(8, 32, 2);
  const heed_input input = floats_input("x", rows);
  guarded.session.run({input});
  CHECK(Guarded::said == "");
  heed_output output;
  REQUIRE(heed_get_output(&guarded.session.session, 0, &output) == HEED_OK);
  uint8_t* result = reinterpret_cast<uint8_t*>(const_cast<float*>(output.data));
  const uint64_t scratch = guarded.session.memory.scratch_bytes;
  CHECK(contains(guarded.written_at(guarded.end() - 1, input, 0), "scratch of worker 0"));
  CHECK(contains(guarded.written_at(guarded.end() - scratch, input, 0), "scratch of worker 0"));
  CHECK(contains(guarded.written_at(guarded.end() - scratch - 1, input, 0), "workspace"));
  CHECK(contains(guarded.written_at(result - 1, input, 0), "(Attention look)"));
  CHECK(contains(guarded.written_at(result + 8 * 32 * sizeof(float), input, 0), "output 0"));
  guarded.session.run({input});  // and it is usable again
}

TEST_CASE("What is written over an output after its node has run is found at the end") {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 16, 8);
  const uint16_t y = builder.node(schema::OpKind::Mul, {x, x});
  builder.output("y", y);
  builder.output("z", builder.node(schema::OpKind::Add, {x, x}));
  const AlignedBytes file = builder.finish();
  Guarded guarded(file, 8);
  const Plain input = random_plain(8, 16, 2);
  guarded.session.run({floats_input("x", input)});
  heed_output output;
  REQUIRE(heed_get_output(&guarded.session.session, 0, &output) == HEED_OK);
  static float* far;
  far = const_cast<float*>(output.data) + 8 * output.stride;
  static void (*real)(const Combine&) = guarded.kernels.add;
  guarded.kernels.add = [](const Combine& a) {
    real(a);
    damage(far, 1.0f);
  };
  CHECK(guarded.session.run_status({floats_input("x", input)}) == HEED_INVALID_ARGUMENT);
  INFO(Guarded::said);
  CHECK(contains(Guarded::said, "output y"));
}

}  // namespace heed::testing
