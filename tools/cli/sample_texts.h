// The sentences of tools/samples/sentences.txt, in the program itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace heed::tools {

// A text a line.
std::string_view sample_texts();

}  // namespace heed::tools
