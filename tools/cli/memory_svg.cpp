// SPDX-License-Identifier: Apache-2.0
#include "cli/memory_svg.h"

#include <algorithm>

#include "cli/print.h"
#include "cli/svg.h"

namespace heed::tools {
namespace {

constexpr double kHeight = 640;   // of the whole arena
constexpr double kTop = 40;
constexpr double kBarLeft = 20;
constexpr double kBarWidth = 260;
constexpr double kTimeLeft = 320;
constexpr double kColumn = 44;    // one op
constexpr double kTextHeight = 12;

// A box in bytes and columns; its text shows if there is room, and always as the mouse rests on it.
struct Box {
  double left;
  double width;
  uint64_t first_byte;
  uint64_t bytes;
  const char* color;
  std::string text;
};

class Drawing {
 public:
  Drawing(uint64_t total_bytes, double width, std::string_view title)
      : scale_(kHeight / static_cast<double>(std::max<uint64_t>(total_bytes, 1))), svg_(svg_begin(width, kTop + kHeight + 20, 11, title)) {}
  void text(double x, double y, std::string_view words) {
    svg_ += "<text " + svg_at(x, y) + ">" + escaped(printable(words)) + "</text>\n";
  }
  void box(const Box& box) {
    const double y = kTop + static_cast<double>(box.first_byte) * scale_;
    const double height = static_cast<double>(box.bytes) * scale_;
    svg_ += "<rect x=\"" + fixed(box.left, 1) + "\" y=\"" + fixed(y, 2) + "\" width=\"" + fixed(box.width, 1) + "\" height=\"" + fixed(height, 2) +
            "\" fill=\"" + box.color + "\" stroke=\"#555555\" stroke-width=\"0.5\"><title>" + escaped(printable(box.text)) + "</title></rect>\n";
    const double text_width = 6.0 * static_cast<double>(box.text.size());
    if (height >= kTextHeight && text_width <= box.width) text(box.left + 4, y + std::min(height - 2, kTextHeight), box.text);
  }
  std::string done() { return svg_ + "</svg>\n"; }

 private:
  double scale_;
  std::string svg_;
};

// The ops at which a value is made and last read.
struct Life {
  uint32_t begin = 0;
  uint32_t end = 0;
};

std::vector<Life> lives(const schema::Graph& graph) {
  std::vector<Life> lives(graph.values());
  for (uint32_t n = 0; n < graph.nodes()->size(); ++n) {
    for (const uint16_t value : *graph.nodes()->Get(n)->inputs()) lives[value].end = n;
    for (const uint16_t value : *graph.nodes()->Get(n)->outputs()) lives[value] = {n, n};
  }
  for (const schema::GraphOutput* output : *graph.outputs()) lives[output->value()].end = graph.nodes()->size() - 1;
  return lives;
}

uint64_t value_bytes(const ValueRecord& value, const heed_limits& limits) {
  const uint64_t rows = uint64_t{value.rows} * limits.max_sequences;
  return (value.ragged ? std::min<uint64_t>(rows, limits.max_rows) : rows) * row_stride(value.features) * sizeof(float);
}

}  // namespace

std::string memory_svg(const Model& model, const heed_limits& limits, const heed_memory& memory, const GraphFacts& facts) {
  const schema::Graph& graph = model.graph();
  Drawing drawing(memory.total_bytes, kTimeLeft + kColumn * graph.nodes()->size() + 20, model.path());
  drawing.text(kBarLeft, 20, model.path() + ": arena of " + grouped(memory.total_bytes) + " bytes, " + std::to_string(limits.max_rows) + " rows, " +
               std::to_string(limits.workers) + " x scratch, tiles of " + std::to_string(limits.tile_rows));

  uint64_t at = 0;
  const auto part = [&](const std::string& name, uint64_t bytes, const char* color) {
    drawing.box({kBarLeft, kBarWidth, at, bytes, color, name + ": " + grouped(bytes) + " bytes"});
    at += bytes;
  };
  part("persistent", memory.persistent_bytes, "#c9b8e8");
  part("activations", memory.activation_bytes, "#a8d0f0");
  part("workspace", memory.workspace_bytes, "#b8e0b0");
  for (uint32_t worker = 0; worker < limits.workers; ++worker) part("scratch " + std::to_string(worker + 1), memory.scratch_bytes, "#f0d8a0");

  // Values over time; behind the highest of them an op has its workspace and scratch.
  const std::vector<Life> when = lives(graph);
  std::vector<uint64_t> top(graph.nodes()->size(), memory.persistent_bytes);
  for (uint32_t value = 0; value < facts.values.size(); ++value) {
    const ValueRecord& record = facts.values[value];
    if (record.unit == kNowhere) continue;
    const Life life = when[value];
    const uint64_t first = memory.persistent_bytes + uint64_t{record.unit} * kAlignment;
    const uint64_t bytes = value_bytes(record, limits);
    drawing.box({kTimeLeft + kColumn * life.begin, kColumn * (life.end - life.begin + 1), first, bytes, "#a8d0f0",
                 "value " + std::to_string(value) + ": " + grouped(bytes)});
    for (uint32_t n = life.begin; n <= life.end; ++n) top[n] = std::max(top[n], first + bytes);
  }
  for (uint32_t n = 0; n < graph.nodes()->size(); ++n) {
    const double left = kTimeLeft + kColumn * n;
    const std::string op = schema::EnumNameOpKind(graph.nodes()->Get(n)->op());
    const uint64_t workspace = uint64_t{facts.nodes[n].workspace_units} * kAlignment;
    const uint64_t scratch = uint64_t{facts.nodes[n].scratch_units} * kAlignment * limits.workers;
    drawing.box({left, kColumn, top[n], workspace, "#b8e0b0", op + " workspace: " + grouped(workspace)});
    drawing.box({left, kColumn, top[n] + workspace, scratch, "#f0d8a0", op + " scratch: " + grouped(scratch)});
    drawing.text(left + 2, kTop - 4, op.substr(0, 7));
  }
  return drawing.done();
}

}  // namespace heed::tools
