// Sample texts as token ids, by the tokenizer that the model file will carry.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

#include "convert/evaluate.h"
#include "convert/spec.h"

namespace heed::tools {

// The ids of each text of a file with one text a line (empty lines are skipped), led by the model's default prompt.
// Throws Error if there is no text or no tokenizer.
std::vector<Values> tokenize_texts(Spec& spec, const std::filesystem::path& path);

}  // namespace heed::tools
