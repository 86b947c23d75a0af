// FlatBuffers' JSON parser over the schema's text.
// SPDX-License-Identifier: Apache-2.0
#include "convert/front_ends/graph_json.h"

#include <flatbuffers/idl.h>

#include <cstdio>

#include "error.h"
#include "model_schema_text.h"

namespace heed::tools {
namespace {

// The parser's message on one line, without the file name that the caller puts first.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

// "3: 17: error: unknown field: x" -> "line 3, column 17: unknown field: x".
std::string placed(const std::string& text) {
  unsigned line = 0, column = 0;
  int length = 0;
  if (std::sscanf(text.c_str(), " %u: %u: error: %n", &line, &column, &length) < 2 || length == 0) return text;
  return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + text.substr(static_cast<size_t>(length));
}

}  // namespace

std::vector<unsigned char> parse_graph_json(const std::string& json, const std::string& where) {
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  flatbuffers::Parser parser(options);
  if (!parser.Parse(kModelSchemaText)) throw Error("the built-in schema does not parse: " + one_line(parser.error_));
  if (!parser.ParseJson(json.c_str())) {
    throw Error(where + ": does not fit the schema (schemas/model.fbs): " + placed(one_line(parser.error_)));
  }
  const uint8_t* bytes = parser.builder_.GetBufferPointer();
  return std::vector<unsigned char>(bytes, bytes + parser.builder_.GetSize());
}

}  // namespace heed::tools
