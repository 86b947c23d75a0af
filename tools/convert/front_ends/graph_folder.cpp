// Reads a graph folder: graph.json, the JSON form of the schema's tables, beside weights.safetensors and vocabularies.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "convert/checkpoint.h"
#include "convert/front_ends/front_end.h"
#include "convert/front_ends/graph_json.h"
#include "convert/json.h"
#include "convert/tokenizer.h"
#include "error.h"
#include "files.h"
#include "model/open.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

// What the schema cannot tell apart: whether a weight names its format, or has the default.
void read_asked_formats(const Json& json, Spec& spec) {
  const auto list = json.find("weights");
  if (list == json.end() || !list->is_array()) return;
  for (size_t i = 0; i < spec.weights.size() && i < list->size(); ++i) {
    if ((*list)[i].is_object() && (*list)[i].contains("format")) spec.weights[i].format = spec.model.weights[i]->format;
  }
}

// A weight may say its own rows and cols; then they have to be the tensor's.
void fill_size(const char* what, uint64_t found, uint32_t& size, const SourceTensor& tensor) {
  if (found == 0 || found > INT32_MAX || (size != 0 && size != found)) {
    throw Error(tensor.title() + " has " + std::to_string(found) + " " + what + ", graph.json says " +
                std::to_string(size));
  }
  size = static_cast<uint32_t>(found);
}

SpecWeight read_weight(schema::WeightT& weight, Role role, const std::string& where, Checkpoint& checkpoint) {
  SpecWeight source;
  source.values = checkpoint.take(weight.name);
  std::vector<uint64_t>& shape = source.values.shape;
  const size_t wanted = role == Role::kVector ? 1 : 2;
  if (wanted == 1 && shape.size() == 2 && shape[0] == 1) shape.erase(shape.begin());  // PyTorch's linear layer with one output
  if (shape.size() != wanted) {
    throw Error(source.values.title() + " has shape " + shape_text(shape) + ", but its use in the graph asks for " +
                (wanted == 1 ? "one dimension, [features]" : "two, [outputs, inputs]"));
  }
  fill_size("rows", wanted == 1 ? 1 : shape[0], weight.rows, source.values);
  fill_size("cols", shape.back(), weight.cols, source.values);
  weight.has_bias = !weight.bias_name.empty();
  if (weight.has_bias && role == Role::kTable) {
    throw Error(where + ": weight '" + weight.name + "' is a table and cannot have a bias");
  }
  if (weight.has_bias) {
    source.bias = checkpoint.take(weight.bias_name, {shape[0]}, "the weight '" + weight.name + "' it belongs to");
  }
  return source;
}

// Subwords come from the files that a Hugging Face folder has: beside graph.json, those of the target in a folder of their own
// or, as Marian has them, in target.spm. What graph.json says of special tokens counts.
void read_subwords(const fs::path& source, bool target, const std::string& where, schema::TokenizerT& tokenizer, std::vector<std::string>* notes) {
  schema::TokenizerT found;
  if (target && fs::exists(source / "target.spm")) {
    found = std::move(*read_tokenizers(source, "graph").target);
  } else {
    build_tokenizer(target ? source / "target" : source, "graph", found, notes);
  }
  if (found.kind != tokenizer.kind) {
    throw Error(where + ": the tokenizer has the kind '" + schema::EnumNameTokenizerKind(tokenizer.kind) + "', but its files '" +
                schema::EnumNameTokenizerKind(found.kind) + "'");
  }
  if (!tokenizer.prefix.empty()) found.prefix = tokenizer.prefix;
  if (!tokenizer.suffix.empty()) found.suffix = tokenizer.suffix;
  found.truncation = tokenizer.truncation;
  found.truncation_source = tokenizer.truncation_source;
  tokenizer = std::move(found);
}

// A tokenizer of words has its rules and special ids in graph.json; its pieces are the lines of a file beside it.
void read_pieces(const fs::path& file, const std::string& key, Spec& spec, schema::TokenizerT* tokenizer) {
  if (!tokenizer) {
    if (fs::exists(file)) throw Error(file.string() + ": no tokenizer reads it; graph.json has no \"" + key + "\"");
    return;
  }
  if (tokenizer->kind == schema::TokenizerKind::none) {
    throw Error(spec.origin + ": \"" + key + "\" has no kind; a graph folder has word, wordpiece, bpe and unigram");
  }
  if (tokenizer->kind != schema::TokenizerKind::word) return read_subwords(file.parent_path(), key == "target_tokenizer", spec.origin, *tokenizer, &spec.notes);
  build_words(file, *tokenizer);
}

// `encode` of an encoder-decoder, else the first.
std::string graph_of_texts(const schema::ModelT& model) {
  const auto has = [&](const std::string& name) {
    return std::any_of(model.graphs.begin(), model.graphs.end(), [&](const auto& graph) { return graph->name == name; });
  };
  if (has("encode") && has("decode")) return "encode";
  return model.graphs.empty() ? "" : model.graphs[0]->name;
}

// Every id of a text has to have a row in the table that it looks into.
void check_table(Spec& spec, const std::string& graph_name, const schema::TokenizerT* tokenizer) {
  for (const auto& graph : spec.model.graphs) {
    for (const auto& node : graph->nodes) {
      if (!tokenizer || graph->name != graph_name || node->op != schema::OpKind::Embed || node->token < 0) continue;
      const schema::WeightT& table = *spec.model.weights[node->token];
      if (table.rows > tokenizer->vocabulary) {
        spec.notes.push_back("table '" + table.name + "' has " + std::to_string(table.rows) + " rows, the vocabulary only " + std::to_string(tokenizer->vocabulary) +
                             " pieces: the others stand for no text");
      }
      if (table.rows >= tokenizer->vocabulary) continue;
      throw Error(spec.origin + ": graph '" + graph_name + "': table '" + table.name + "' has " + std::to_string(table.rows) +
                  " rows, the vocabulary has " + std::to_string(tokenizer->vocabulary) + " pieces");
    }
  }
}

void check_version(uint32_t version, const std::string& where) {
  if (version <= kFormatVersion) return;
  throw Error(where + ": \"version\" is " + std::to_string(version) + "; this heed knows the versions of the format up to " + std::to_string(kFormatVersion) +
              ": leave it out, or convert with the heed that the file was made for");
}

void check_states(const Spec& spec) {
  const size_t states = spec.model.states.size();
  for (const auto& graph : spec.model.graphs) {
    for (const auto& node : graph->nodes) {
      if (node->state == -1 || (node->state >= 0 && static_cast<size_t>(node->state) < states)) continue;
      throw Error(spec.origin + ": graph '" + graph->name + "', node '" + node->name + "': state id " + std::to_string(node->state) +
                  (states ? " is not one of the " + std::to_string(states) + " states" : ", but the file declares no \"states\""));
    }
  }
}

}  // namespace

bool accepts_graph_folder(const fs::path& source) { return fs::exists(source / "graph.json"); }

Spec read_graph_folder(const fs::path& source, const std::string& task) {
  const fs::path path = source / "graph.json";
  if (!task.empty()) throw Error(path.string() + ": has no tasks, so there is no --task");
  const MappedFile file(path);
  const Json json = parse_json(file.text(), path.string());
  const std::vector<unsigned char> bytes = parse_graph_json(std::string(file.text()), path.string());
  Spec spec;
  spec.origin = path.string();
  schema::GetModel(bytes.data())->UnPackTo(&spec.model);
  check_version(spec.model.version, spec.origin);
  check_states(spec);
  if (!spec.model.metadata) spec.model.metadata = std::make_unique<schema::MetadataT>();
  if (spec.model.metadata->family.empty()) spec.model.metadata->family = "graph";

  read_pieces(source / "source.txt", "tokenizer", spec, spec.model.tokenizer.get());
  read_pieces(source / "target.txt", "target_tokenizer", spec, spec.model.target_tokenizer.get());

  Checkpoint checkpoint = Checkpoint::open(source, "weights");
  for (const auto& one : checkpoint.files()) spec.keep_alive.push_back(one);
  const std::vector<Role> roles = weight_roles(spec);
  for (size_t i = 0; i < roles.size(); ++i) {
    spec.weights.push_back(read_weight(*spec.model.weights[i], roles[i], spec.origin, checkpoint));
  }
  for (const std::string& name : checkpoint.left_over()) {
    throw Error(checkpoint.where() + ": tensor '" + name +
                "' is left over; name it in graph.json or take it out of weights.safetensors");
  }
  check_table(spec, graph_of_texts(spec.model), spec.model.tokenizer.get());
  check_table(spec, "decode", spec.model.target_tokenizer.get());
  read_asked_formats(json, spec);
  return spec;
}

}  // namespace heed::tools
