// What session/guards.h promises.
// SPDX-License-Identifier: Apache-2.0
#include "session/guards.h"

#ifdef HEED_GUARDS
#include <cstring>

#include "model/diagnostic.h"

#ifdef __SANITIZE_ADDRESS__
#define HEED_POISONS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEED_POISONS
#endif
#endif
#ifdef HEED_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace heed {
namespace {

constexpr uint64_t kGuardBytes = uint64_t{kGuardUnits} * kAlignment;
constexpr uint8_t kPattern = 0xd7;

// A part of the arena with a guard on either side.
struct Piece {
  uint8_t* begin;
  uint64_t bytes;
  const char* kind;
  uint32_t index;

  uint8_t* before() const { return begin - kGuardBytes; }
  uint8_t* behind() const { return begin + bytes; }
};

void poison(const Piece& piece) {
#ifdef HEED_POISONS
  ASAN_POISON_MEMORY_REGION(piece.before(), kGuardBytes);
  ASAN_POISON_MEMORY_REGION(piece.behind(), kGuardBytes);
#else
  static_cast<void>(piece);
#endif
}

void unpoison(const Piece& piece) {
#ifdef HEED_POISONS
  ASAN_UNPOISON_MEMORY_REGION(piece.before(), piece.bytes + 2 * kGuardBytes);
#else
  static_cast<void>(piece);
#endif
}

void set(const Piece& piece) {
  std::memset(piece.before(), kPattern, kGuardBytes);
  std::memset(piece.behind(), kPattern, kGuardBytes);
}

bool is_whole(const Piece& piece) {
  for (uint64_t i = 0; i < kGuardBytes; ++i) {
    if (piece.before()[i] != kPattern || piece.behind()[i] != kPattern) return false;
  }
  return true;
}

// The rows that the pass has: an overrun is found even where the plan has room for more.
Piece piece_of(const Tensor& tensor, const char* kind, uint32_t index) {
  return {reinterpret_cast<uint8_t*>(tensor.data), uint64_t{tensor.rows} * tensor.stride * sizeof(float), kind, index};
}

template <class Body>
void for_each_read(const PreparedStep& prepared, const Body& body) {
  for (uint32_t i = 0; i < prepared.step.in_count; ++i) {
    if (prepared.step.in[i].data) body(piece_of(prepared.step.in[i], "input", i));
  }
}

template <class Body>
void for_each_written(const PreparedStep& prepared, const Body& body) {
  for (uint32_t i = 0; i < HEED_MAX_PORTS; ++i) {
    if (prepared.step.out[i].data) body(piece_of(prepared.step.out[i], "output", i));
  }
  if (prepared.workspace_bytes > 0) body(Piece{prepared.step.workspace, prepared.workspace_bytes, "workspace", 0});
  if (prepared.scratch_bytes == 0) return;
  for (uint32_t i = 0; i < prepared.step.limits.workers; ++i) {
    body(Piece{prepared.scratch + i * prepared.scratch_stride, prepared.scratch_bytes, "scratch of worker", i});
  }
}

// A short message, put together without a heap.
class Message {
 public:
  Message& operator<<(const char* text) {
    while (*text != '\0' && used_ + 1 < sizeof text_) text_[used_++] = *text++;
    return *this;
  }
  Message& operator<<(uint32_t number) {
    char digits[11] = {};
    uint32_t at = 10;
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return *this << digits + at;
  }
  const char* text() const { return text_; }

 private:
  char text_[160] = {};
  uint32_t used_ = 0;
};

heed_status trap(const heed_session& session, const Message& message, heed_diagnostic* diagnostic) {
  const heed_platform* platform = session.platform;
  if (platform != nullptr && platform->trap != nullptr) platform->trap(platform->context, message.text());
  return refuse(diagnostic, HEED_INVALID_ARGUMENT, "a guard in the arena was written over");
}

}  // namespace

void guard_inputs(const SessionView& session, const Pass& pass) {
  for (const schema::GraphInput* input : *root(session.model).graphs()->Get(pass.graph)->inputs()) {
    const Tensor tensor = value_tensor(session, pass.graph, input->value());
    if (tensor.data) set(piece_of(tensor, "", 0));
  }
}

void guard_node(const PreparedStep& prepared) {
  for_each_written(prepared, set);
  for_each_read(prepared, poison);
  for_each_written(prepared, poison);
}

heed_status check_node(const heed_session& session, const PreparedStep& prepared, heed_diagnostic* diagnostic) {
  for_each_read(prepared, unpoison);
  for_each_written(prepared, unpoison);
  heed_status status = HEED_OK;
  const auto check = [&](const Piece& piece) {
    if (status != HEED_OK || is_whole(piece)) return;
    const schema::Node& node = prepared.step.node;
    Message message;
    message << "node " << prepared.step.node_index << " (" << prepared.op->name;
    if (node.name() != nullptr) message << " " << node.name()->c_str();
    message << ") or one before it wrote outside of its room: over a guard of " << piece.kind << " " << piece.index;
    diagnostic->node = static_cast<int32_t>(prepared.step.node_index);
    status = trap(session, message, diagnostic);
  };
  for_each_written(prepared, check);
  for_each_read(prepared, check);
  return status;
}

heed_status check_outputs(const heed_session& session, const Pass& pass, heed_diagnostic* diagnostic) {
  const SessionView view = view_of(session);
  for (const schema::GraphOutput* output : *root(view.model).graphs()->Get(pass.graph)->outputs()) {
    if (is_whole(piece_of(value_tensor(view, pass.graph, output->value()), "", 0))) continue;
    diagnostic->value = output->value();
    return trap(session, Message() << "a node wrote over a guard of the graph's output " << output->name()->c_str(),
                diagnostic);
  }
  return HEED_OK;
}

}  // namespace heed

#endif
