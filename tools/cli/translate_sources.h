// What an encoder-decoder reads: texts as ids, and what becomes of what its vocabulary does not have.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/translate.h"

namespace heed::tools {

// An input: its ids, and the bytes that each stands for.
struct Source {
  std::vector<int32_t> ids;
  std::vector<std::string> words;
};

// The inputs of `work`, in order. Throws Error for ids outside the table, for texts without tokens or with too many, and for what the
// vocabulary does not have, if --unknown or its default says so; where the default is to read the unknown token, a note says which text
// has it.
std::vector<Source> gather_sources(const Model& model, const TranslateWork& work, const TranslateFlags& flags);

}  // namespace heed::tools
