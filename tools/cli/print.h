// How the program writes: tables for people, JSON for programs, numbers the same in every locale.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heed::tools {

using Json = nlohmann::ordered_json;

// As standard output has it. Bytes that are not UTF-8 become U+FFFD; not-a-number becomes null.
std::string json_text(const Json& json);
// The one object on standard output.
void print_json(const Json& json);
// The shortest decimal that reads back as this float.
Json json_number(float value);

// Writes to standard output; a full disk or a closed pipe is an Error.
void print(std::string_view text);
// A line on standard error about something that a person may want to know and that stops nothing.
void note(const std::string& message);

std::string fixed(double value, int decimals);
// With a comma between thousands.
std::string grouped(uint64_t value);
// "12.3 KiB", for people beside an exact number.
std::string human_bytes(uint64_t bytes);
// Text from a file or a model, safe for a terminal: control characters and bytes that are not UTF-8 are escaped.
std::string printable(std::string_view text);

// Text as it stands in XML, an SVG's for one.
std::string escaped(std::string_view text);

// `text` as printable, of at most `most` bytes of it, cut between characters.
std::string shortened(std::string_view text, size_t most);

// Columns as wide as they need be: the first to the left, the rest to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Makes column `index` lean to the left.
  void lean_left(size_t index) { left_.push_back(index); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> left_ = {0};
};

}  // namespace heed::tools
