// What a person gives (texts, ids, .npy files) as sequences for a graph's inputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/session.h"

namespace heed::tools {

// What one graph input gets for one sequence: [rows] ids, or [rows, features] floats. No rows: an optional input left out.
struct InputData {
  std::vector<int32_t> ids;
  std::vector<float> values;
  uint32_t rows = 0;
};

// One sequence: an entry for each input of the graph, in its order.
using Sequence = std::vector<InputData>;

// The input that a text's ids go to: the only one that is ids and must be given.
uint32_t text_input(const Model& model);
// A text's tokens with the model's own tokenizer and truncation.
std::vector<heed_token> tokenize(const Model& model, std::string_view text);
// How many tokens a text that can be tokenized has without truncation; 0 if they are more than can be counted.
uint32_t count_tokens(const Model& model, std::string_view text);
// `where` says in messages where the ids are from.
Sequence sequence_of_ids(const Model& model, std::vector<int32_t> ids, const std::string& where);
Sequence sequence_of_text(const Model& model, std::string_view text);
// What goes before each text: the prompt of that name, or the model's default one, or nothing.
std::string prompt_text(const Model& model, const std::optional<std::string>& name);
// The texts with that before each.
std::vector<std::string> with_prompt(const Model& model, const std::vector<std::string>& texts, const std::optional<std::string>& name);
// NAME=file.npy for each input that must be given: f32 [rows, features] or integers [rows].
Sequence sequence_of_files(const Model& model, const std::vector<std::string>& assignments);
// A text a line, of a file or, where the path is "-", of standard input; the last line may lack its end. Throws Error if there is none.
std::vector<std::string> read_texts(const std::string& path);
std::vector<std::string> split_lines(std::string_view text);

// How many entries the table has that an input of ids looks into; 0 if none does.
uint32_t id_bound(const Model& model, uint32_t input);
// A sequence of ids and unit-normal values that a seed decides, the same on every machine: of `rows` rows, or, for an input
// that takes fewer, of as many as it takes.
Sequence sequence_of_noise(const Model& model, uint32_t rows, uint64_t seed);

// Splits NAME=FILE; throws UsageError.
std::pair<std::string, std::string> split_assignment(const std::string& flag, const std::string& text);

}  // namespace heed::tools
