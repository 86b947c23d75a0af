// The forms in which a checkpoint brings a WordPiece tokenizer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "convert/tokenizer.h"

namespace heed::tools {

// tokenizer.json. What tokenizer_config.json beside it says of the normalizer wins, as in transformers.
WordPieceSpec read_tokenizer_json(const std::filesystem::path& folder);

// vocab.txt, with tokenizer_config.json if it is there; the defaults are those of BERT.
WordPieceSpec read_vocabulary_text(const std::filesystem::path& folder, const std::string& model_type);

}  // namespace heed::tools
