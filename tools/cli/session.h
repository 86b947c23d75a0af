// A model file and a session on it, as every subcommand uses them: the flags they share, and errors as one clear line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files.h"
#include "heed/heed.h"
#include "model_generated.h"

namespace heed::tools {

// An opened model file. Throws Error when it is not one.
class Model {
 public:
  // `name` is what messages call it, if not `path`.
  explicit Model(const std::string& path, uint32_t open_flags = 0, const std::string& name = "");
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const heed_model& handle() const { return handle_; }
  const schema::Model& tables() const { return *static_cast<const schema::Model*>(handle_.root); }
  // The graph that an input goes to: `encode` of an encoder-decoder, whatever its place, else the first.
  const schema::Graph& graph() const { return *tables().graphs()->Get(graph_place()); }
  uint32_t graph_place() const;
  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return file_.size(); }
  // The most rows one sequence may have.
  uint32_t max_sequence_rows() const;
  // Seconds that mapping and heed_open took.
  double open_seconds() const { return open_seconds_; }

 private:
  std::string path_;
  MappedFile file_;
  heed_model handle_{};
  double open_seconds_ = 0;
};

// Whether the model has the graphs `encode` and `decode`.
bool is_translator(const Model& model);
// The place of a graph; HEED_NO_TOKEN, which is no place, if the model has none of this name.
uint32_t graph_index(const Model& model, std::string_view name);

// Throws Error with the file, the place in it and the numbers, unless `status` is HEED_OK. `model` may be null: then
// the names in the file are used only after it has verified.
void check(heed_status status, const heed_diagnostic& diagnostic, const std::string& path, const heed_model* model);
heed_diagnostic empty_diagnostic();

// What the flags that subcommands share say (flags.h).
struct SessionFlags {
  uint32_t rows = 0;       // 0: what the input needs
  uint32_t context = 0;    // rows that states hold; 0: the model's default
  uint32_t beams = 0;      // hypotheses of one source; 0: one
  uint32_t tile_rows = 0;  // 0: the default
  uint32_t threads = 1;
  std::string precision;   // empty: int8 where the weights are int8
  std::string isa;         // empty: HEED_ISA from the environment, else the best
  std::optional<uint64_t> arena_bytes;
};

// What a session must hold.
struct Extent {
  uint32_t rows = 0;
  uint32_t sequences = 1;
  uint32_t sequence_rows = 0;
};
heed_limits make_limits(const Model& model, const SessionFlags& flags, const Extent& extent);
// One sequence of --rows rows, or of the model's maximum.
heed_limits make_limits(const Model& model, const SessionFlags& flags);
heed_memory required_memory(const Model& model, const heed_limits& limits);
// `wanted`, or what HEED_ISA says, or the best one; throws Error if it does not run here.
std::string chosen_isa(const std::string& wanted);

// A planned session with its arena and its threads.
class Session {
 public:
  Session(const Model& model, const heed_limits& limits, const SessionFlags& flags);
  ~Session();

  void run(const heed_pass& pass);
  heed_output output(uint32_t index) const;
  heed_session* handle() { return &session_; }
  const heed_memory& memory() const { return memory_; }
  uint64_t arena_bytes() const { return arena_bytes_; }
  const heed_limits& limits() const { return limits_; }
  const char* isa() const { return heed_session_isa(&session_); }
  // Seconds that heed_plan took.
  double plan_seconds() const { return plan_seconds_; }

 private:
  struct Host;
  const Model& model_;
  heed_limits limits_;
  heed_memory memory_;
  uint64_t arena_bytes_ = 0;
  std::unique_ptr<Host> host_;
  std::unique_ptr<void, void (*)(void*)> arena_;
  heed_session session_{};
  double plan_seconds_ = 0;
};

}  // namespace heed::tools
