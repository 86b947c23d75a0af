// Parses graph.json by the schema. Apart from the rest because FlatBuffers' parser is a library with the real
// namespace. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace heed::tools {

// The FlatBuffer that a model's JSON form describes. Throws Error, led by `where`, for JSON that is not the schema's.
std::vector<unsigned char> parse_graph_json(const std::string& json, const std::string& where);

}  // namespace heed::tools
