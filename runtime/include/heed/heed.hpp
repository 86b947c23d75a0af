/// heed's C++17 interface: heed.h with types that are hard to misuse. No heap, no exceptions; everything is inline.
///
///     heed::Model model;
///     if (heed::Status s = model.open(bytes, size); !s.ok()) return report(s.text());
///     heed::Limits limits(model);
///     limits.max_rows = 128;
///     heed_memory memory;
///     if (heed::Status s = model.required_bytes(limits, &memory); !s.ok()) return report(s.text());
///     heed::Session session;
///     if (heed::Status s = session.plan(model, limits, arena, memory.total_bytes); !s.ok()) return report(s.text());
///     heed_input tokens = heed::ids("tokens", ids, count);
///     if (heed::Status s = session.run(&tokens, 1); !s.ok()) return report(s.text());
///     heed::Output embedding = session.output(0);  // embedding.row(0)[0 .. embedding.features)
///
/// The caller owns all memory: the model's bytes outlive the Model, the Model and the arena outlive the Session.
/// A Model may be shared between threads; a Session is used by one at a time.
///
/// SPDX-License-Identifier: Apache-2.0
#ifndef HEED_HEED_HPP
#define HEED_HEED_HPP

#include "heed/heed.h"

namespace heed {

/// What a call answered. Has to be looked at.
class [[nodiscard]] Status {
 public:
  constexpr Status(heed_status code = HEED_OK) : code_(code) {}  // NOLINT: a heed_status is a Status
  constexpr bool ok() const { return code_ == HEED_OK; }
  constexpr heed_status code() const { return code_; }
  /// A sentence for a person.
  const char* text() const { return heed_status_text(code_); }
  friend constexpr bool operator==(Status a, Status b) { return a.code_ == b.code_; }
  friend constexpr bool operator!=(Status a, Status b) { return a.code_ != b.code_; }

 private:
  heed_status code_;
};

struct Limits;

/// A verified view of a model file in memory.
class Model {
 public:
  /// See heed_open. `bytes` must be 64-byte aligned and outlive the model.
  Status open(const void* bytes, uint64_t size, uint32_t flags = 0, heed_diagnostic* diagnostic = nullptr) {
    return heed_open(bytes, size, flags, &model_, diagnostic);
  }
  bool is_open() const { return model_.root != nullptr; }
  /// What an arena for these limits takes, exact to the byte.
  Status required_bytes(const Limits& limits, heed_memory* memory, heed_diagnostic* diagnostic = nullptr) const;
  /// Splits a text; see heed_tokenize. Needs the component heed::text.
  Status tokenize(const char* text, uint64_t bytes, heed_token* tokens, uint32_t capacity, uint32_t* count,
                  uint32_t max_tokens = 0) const {
    return heed_tokenize(&model_, text, bytes, max_tokens, tokens, capacity, count);
  }
  /// Joins tokens to a text; see heed_detokenize. Needs the component heed::text.
  Status detokenize(const heed_ids& ids, char* text, uint64_t capacity, uint64_t* bytes) const {
    return heed_detokenize(&model_, &ids, text, capacity, bytes);
  }
  const heed_model* get() const { return &model_; }

 private:
  heed_model model_{};
};

/// What a session must be able to hold. Starts as one sequence of the model's own maximum, one worker.
struct Limits : heed_limits {
  explicit Limits(const Model& model) : heed_limits{} { heed_default_limits(model.get(), this); }
};

inline Status Model::required_bytes(const Limits& limits, heed_memory* memory, heed_diagnostic* diagnostic) const {
  return heed_required_bytes(&model_, &limits, memory, diagnostic);
}

/// An output: `rows` rows of `features` floats in the arena, valid until the session's next run. Empty if there is none.
struct Output {
  const float* data = nullptr;
  uint32_t rows = 0;
  uint32_t features = 0;
  uint32_t stride = 0;
  const float* row(uint32_t index) const { return data + uint64_t{index} * stride; }
};

/// An input of ids, or of rows of floats: all sequences one after another. `lengths` has one entry for each sequence;
/// null: one sequence.
inline heed_input ids(const char* name, const int32_t* data, uint32_t rows, const uint32_t* lengths = nullptr) {
  return {name, data, rows, lengths};
}
inline heed_input floats(const char* name, const float* data, uint32_t rows, const uint32_t* lengths = nullptr) {
  return {name, data, rows, lengths};
}

/// A model planned into an arena. Not to be copied: two of them would write into one arena.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// See heed_plan. `model`, `arena` and `platform` must outlive the session.
  Status plan(const Model& model, const Limits& limits, void* arena, uint64_t arena_bytes,
              const heed_platform* platform = nullptr, heed_diagnostic* diagnostic = nullptr) {
    return heed_plan(model.get(), &limits, arena, arena_bytes, platform, &session_, diagnostic);
  }
  /// Runs the first graph.
  Status run(const heed_input* inputs, uint32_t count, uint32_t sequences = 1, heed_diagnostic* diagnostic = nullptr) {
    heed_pass pass{};
    pass.sequences = sequences;
    pass.inputs = inputs;
    pass.inputs_count = count;
    return run(pass, diagnostic);
  }
  /// Runs what the pass says; its `size` is filled in here.
  Status run(heed_pass pass, heed_diagnostic* diagnostic = nullptr) {
    pass.size = sizeof pass;
    return heed_run(&session_, &pass, diagnostic);
  }
  /// Empties all states; see heed_reset.
  Status reset() { return heed_reset(&session_); }
  /// Gives each of the first `count` sequences the states of another; see heed_reorder.
  Status reorder(const uint32_t* parents, uint32_t count) { return heed_reorder(&session_, parents, count); }
  Output output(uint32_t index) const {
    heed_output output;
    if (heed_get_output(&session_, index, &output) != HEED_OK) return {};
    return {output.data, output.rows, output.features, output.stride};
  }
  /// The instruction set that it runs on; null before `plan`.
  const char* isa() const { return heed_session_isa(&session_); }
  heed_session* get() { return &session_; }

 private:
  heed_session session_{};
};

}  // namespace heed

#endif
