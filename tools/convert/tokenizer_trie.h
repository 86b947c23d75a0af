// Double arrays as runtime/text/trie.h reads them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heed::tools {

// The array for a set of strings and their numbers, each below 2^31. No string may be empty or have a zero byte.
std::vector<uint32_t> build_trie(const std::map<std::string, uint32_t>& numbers);

}  // namespace heed::tools
