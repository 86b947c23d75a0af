// SPDX-License-Identifier: Apache-2.0
#include "attention/collect.h"

#include <algorithm>

#include "attention/tapped.h"
#include "cli/passes.h"
#include "cli/print.h"
#include "error.h"

namespace heed::tools {
namespace {

constexpr uint64_t kMostWeights = uint64_t{1} << 28;

std::vector<uint32_t> attention_nodes(const schema::Graph& graph) {
  std::vector<uint32_t> places;
  for (uint32_t n = 0; n < graph.nodes()->size(); ++n) {
    if (graph.nodes()->Get(n)->op() == schema::OpKind::Attention) places.push_back(n);
  }
  return places;
}

}  // namespace

std::vector<std::string> labels_of_ids(const Model& model, const std::vector<int32_t>& ids) {
  std::vector<std::string> labels;
  for (const int32_t id : ids) {
    uint32_t bytes = 0;
    const char* piece = heed_token_piece(&model.handle(), static_cast<uint32_t>(id), &bytes);
    labels.push_back(piece ? printable({piece, bytes}) : std::to_string(id));
  }
  return labels;
}

Attention describe_attention(const Model& model, const Sequence& sequence) {
  const schema::Graph& graph = model.graph();
  const std::vector<uint32_t> nodes = attention_nodes(graph);
  if (nodes.empty()) throw Error(model.path() + ": graph \"" + printable(graph.name()->string_view()) + "\" has no attention");
  Attention attention;
  attention.model = model.path();
  attention.layers = layers_of(graph, nodes);
  attention.self = std::all_of(nodes.begin(), nodes.end(), [&](uint32_t place) {
    const schema::Node& node = *graph.nodes()->Get(place);
    return node.inputs()->size() == 1 && node.state() < 0;
  });
  uint64_t longest = 0;
  for (const InputData& input : sequence) {
    if (attention.self && attention.rows.empty()) attention.columns = attention.rows = labels_of_ids(model, input.ids);
    longest = std::max<uint64_t>(longest, input.rows);
  }
  uint64_t heads = 0;
  for (const AttentionLayer& layer : attention.layers) heads += layer.heads;
  if (heads * longest * longest > kMostWeights) {
    throw Error(model.path() + ": " + std::to_string(heads) + " heads of " + std::to_string(longest) + " x " + std::to_string(longest) + " weights are " +
                grouped(heads * longest * longest) + ", at most " + grouped(kMostWeights) + " are kept; give a shorter input");
  }
  return attention;
}

void collect_attention(const Model& model, const Sequence& sequence, const SessionFlags& flags, Attention* attention) {
  const std::vector<Sequence> sequences = {sequence};
  const Schedule schedule = make_schedule(model, sequences, flags.rows, "the input");
  Session session(model, make_limits(model, flags, schedule.extent), flags);
  const Batch batch(model.graph(), sequences, schedule.passes[0]);
  Tapped tapped;
  heed_pass pass = batch.pass();
  pass.tap = Tapped::take;
  pass.tap_context = &tapped;
  session.run(pass);
  tapped.fill(attention_nodes(model.graph()), attention);
}

}  // namespace heed::tools
