// Sample texts as token ids, by the tokenizer that the model file will carry.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

#include "convert/evaluate.h"
#include "heed/heed.h"

namespace heed::tools {

// The ids of each text of a file with one text a line (empty lines are skipped), led by the model's default prompt.
// Throws Error if there is no text.
std::vector<Values> tokenize_texts(const heed_model& model, const schema::MetadataT& metadata,
                                   const std::filesystem::path& path);

}  // namespace heed::tools
