// How a Hugging Face folder says that outputs are to be searched.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "convert/families/families.h"

namespace heed::tools {

// What generation_config.json, or without it config.json, says about a search, for the model file; keys of `last_word` stand in the place
// of theirs. `config` then knows all keys about searches. Throws Error for what heed's search does not do, by name. A length cut to what
// the model holds is noted in `spec`.
void read_generation(const std::filesystem::path& folder, Config& config, const Json& last_word, const EncoderDecoder& built, Spec& spec);

}  // namespace heed::tools
