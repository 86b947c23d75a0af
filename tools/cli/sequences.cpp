// SPDX-License-Identifier: Apache-2.0
#include "cli/sequences.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include "cli/npy.h"
#include "cli/print.h"
#include "error.h"

namespace heed::tools {

std::pair<std::string, std::string> split_assignment(const std::string& flag, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw UsageError(flag + " wants NAME=FILE.npy, not '" + text + "'");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

uint32_t text_input(const Model& model) {
  const auto& inputs = *model.graph().inputs();
  int32_t found = -1;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (inputs.Get(i)->optional()) continue;
    if (inputs.Get(i)->type() != schema::ElementType::i32 || found >= 0) {
      throw Error(model.path() + ": input \"" + printable(inputs.Get(i)->name()->string_view()) + "\" is not one that tokens go to; give every input with --input");
    }
    found = static_cast<int32_t>(i);
  }
  if (found < 0) throw Error(model.path() + ": the graph has no input that tokens go to");
  return static_cast<uint32_t>(found);
}

std::vector<heed_token> tokenize(const Model& model, std::string_view text) {
  // Never more tokens than bytes, but for the special ones.
  std::vector<heed_token> tokens(64);
  for (;;) {
    uint32_t count = 0;
    const heed_status status = heed_tokenize(&model.handle(), text.data(), text.size(), 0, tokens.data(), static_cast<uint32_t>(tokens.size()), &count);
    if (status == HEED_BUFFER_TOO_SMALL) {
      tokens.resize(count);
      continue;
    }
    check(status, empty_diagnostic(), model.path(), &model.handle());
    tokens.resize(count);
    return tokens;
  }
}

uint32_t count_tokens(const Model& model, std::string_view text) {
  uint32_t count = 0;
  heed_token none;
  heed_tokenize(&model.handle(), text.data(), text.size(), UINT32_MAX, &none, 0, &count);  // HEED_BUFFER_TOO_SMALL
  return count;
}

namespace {

void check_ids(const Model& model, uint32_t input, const std::vector<int32_t>& ids, const std::string& where) {
  const uint32_t bound = id_bound(model, input);
  for (size_t i = 0; bound && i < ids.size(); ++i) {
    if (ids[i] >= 0 && static_cast<uint32_t>(ids[i]) < bound) continue;
    throw Error(where + ": element " + std::to_string(i) + " is the id " + std::to_string(ids[i]) + "; input \"" +
                printable(model.graph().inputs()->Get(input)->name()->string_view()) + "\" of " + model.path() + " takes 0 to " + std::to_string(bound - 1));
  }
}

}  // namespace

Sequence sequence_of_ids(const Model& model, std::vector<int32_t> ids, const std::string& where) {
  if (ids.empty()) throw Error(model.path() + ": a text gives no tokens, so there is nothing to run on");
  Sequence sequence(model.graph().inputs()->size());
  const uint32_t index = text_input(model);
  check_ids(model, index, ids, where);
  InputData& input = sequence[index];
  input.rows = static_cast<uint32_t>(ids.size());
  input.ids = std::move(ids);
  return sequence;
}

Sequence sequence_of_text(const Model& model, std::string_view text) {
  std::vector<int32_t> ids;
  for (const heed_token& token : tokenize(model, text)) ids.push_back(static_cast<int32_t>(token.id));
  return sequence_of_ids(model, std::move(ids), "a text");
}

std::string prompt_text(const Model& model, const std::optional<std::string>& name) {
  const schema::Metadata* metadata = model.tables().metadata();
  std::string wanted = name.value_or("");
  if (!name && metadata && metadata->default_prompt()) wanted = metadata->default_prompt()->str();
  if (wanted.empty()) return "";
  std::string names;
  if (metadata && metadata->prompts()) {
    for (const schema::Prompt* prompt : *metadata->prompts()) {
      if (prompt->name()->str() == wanted) return prompt->text()->str();
      names += (names.empty() ? "" : ", ") + prompt->name()->str();
    }
  }
  throw Error(model.path() + ": has no prompt \"" + wanted + "\"" + (names.empty() ? ", and none at all" : "; it has " + names));
}

std::vector<std::string> with_prompt(const Model& model, const std::vector<std::string>& texts, const std::optional<std::string>& name) {
  const std::string prompt = prompt_text(model, name);
  std::vector<std::string> prompted;
  for (const std::string& text : texts) prompted.push_back(prompt + text);
  return prompted;
}

Sequence sequence_of_files(const Model& model, const std::vector<std::string>& assignments) {
  const auto& inputs = *model.graph().inputs();
  Sequence sequence(inputs.size());
  for (const std::string& assignment : assignments) {
    const auto [name, path] = split_assignment("--input", assignment);
    uint32_t index = 0;
    while (index < inputs.size() && inputs.Get(index)->name()->str() != name) ++index;
    if (index == inputs.size()) {
      std::string names;
      for (const auto* input : inputs) names += (names.empty() ? "" : ", ") + printable(input->name()->string_view());
      throw UsageError("--input " + name + ": " + model.path() + " has no such input; it has " + names);
    }
    InputData& data = sequence[index];
    if (data.rows > 0) throw UsageError("--input " + name + " is given twice");
    const schema::GraphInput& declared = *inputs.Get(index);
    const bool ids = declared.type() == schema::ElementType::i32;
    NpyArray array = read_npy(path);
    const bool fits = ids ? array.shape.size() == 1 : array.shape.size() == 2 && array.shape[1] == declared.features();
    if (!fits || array.is_integer != ids) {
      const std::string wanted = ids ? "integers of shape [rows]" : "floats of shape [rows, " + std::to_string(declared.features()) + "]";
      throw Error(path + ": has " + (array.is_integer ? "integers" : "floats") + " of shape " + shape_text(array.shape) + ", input \"" +
                  printable(name) + "\" wants " + wanted);
    }
    if (array.shape[0] == 0) {
      throw Error(path + ": has no rows; an input has at least one");
    }
    const uint32_t most = std::min(declared.max_rows() ? declared.max_rows() : UINT32_MAX, model.max_sequence_rows());
    if (array.shape[0] > most) {
      throw Error(path + ": has " + std::to_string(array.shape[0]) + " rows; input \"" + printable(name) + "\" of " + model.path() + " takes at most " +
                  std::to_string(most));
    }
    if (ids) check_ids(model, index, array.integers, path);
    data.rows = static_cast<uint32_t>(array.shape[0]);
    data.ids = std::move(array.integers);
    data.values = std::move(array.floats);
  }
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (sequence[i].rows == 0 && !inputs.Get(i)->optional()) {
      throw UsageError("input \"" + printable(inputs.Get(i)->name()->string_view()) + "\" of " + model.path() + " is missing; give it with --input");
    }
  }
  return sequence;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

namespace {

std::string read_standard_input() {
  std::string text;
  char block[1 << 16];
  while (const size_t count = std::fread(block, 1, sizeof block, stdin)) text.append(block, count);
  if (std::ferror(stdin)) throw Error(std::string("standard input: cannot read: ") + std::strerror(errno));
  return text;
}

}  // namespace

std::vector<std::string> read_texts(const std::string& path) {
  const bool standard = path == "-";
  std::error_code ignored;
  if (!standard && (std::filesystem::is_fifo(path, ignored) || std::filesystem::is_character_file(path, ignored))) {
    throw Error(path + ": is a pipe or a device, not a file; `--texts -` reads standard input");
  }
  std::vector<std::string> lines = standard ? split_lines(read_standard_input()) : split_lines(MappedFile(path).text());
  if (lines.empty()) throw Error((standard ? "standard input" : path) + ": has no line of text");
  return lines;
}

uint32_t id_bound(const Model& model, uint32_t input) {
  const schema::Graph& graph = model.graph();
  const uint16_t value = graph.inputs()->Get(input)->value();
  for (const schema::Node* node : *graph.nodes()) {
    if (node->op() != schema::OpKind::Embed) continue;
    const int32_t tables[] = {node->token(), node->segment()};
    for (uint32_t port = 0; port < node->inputs()->size() && port < 2; ++port) {
      if (node->inputs()->Get(port) == value && tables[port] >= 0) {
        return model.tables().weights()->Get(static_cast<uint32_t>(tables[port]))->rows();
      }
    }
  }
  return 0;
}

namespace {

// Rows of a sequence that is to have `rows`, on an axis: as many as all inputs take that have to be given there.
uint32_t rows_on_axis(const schema::Graph& graph, uint16_t axis, uint32_t rows) {
  for (const schema::GraphInput* input : *graph.inputs()) {
    if (input->axis() == axis && !input->optional()) rows = std::min(rows, input->max_rows());
  }
  return rows;
}

}  // namespace

Sequence sequence_of_noise(const Model& model, uint32_t most_rows, uint64_t seed) {
  // SplitMix64; the sum of twelve uniform numbers is normal enough for a comparison and the same on every machine.
  const auto next = [&seed] {
    uint64_t z = seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  };
  const auto normal = [&next] {
    int64_t sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<int64_t>(next() >> 44);
    return static_cast<float>(sum - 6 * (1 << 20)) / (1 << 20);
  };
  const auto& inputs = *model.graph().inputs();
  Sequence sequence(inputs.size());
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (inputs.Get(i)->optional()) continue;
    InputData& data = sequence[i];
    const uint32_t rows = rows_on_axis(model.graph(), inputs.Get(i)->axis(), most_rows);
    data.rows = rows;
    if (inputs.Get(i)->type() == schema::ElementType::i32) {
      const uint32_t bound = std::max(id_bound(model, i), 1u);
      for (uint32_t row = 0; row < rows; ++row) data.ids.push_back(static_cast<int32_t>(next() % bound));
    } else {
      for (uint64_t k = 0; k < uint64_t{rows} * inputs.Get(i)->features(); ++k) data.values.push_back(normal());
    }
  }
  return sequence;
}

}  // namespace heed::tools
