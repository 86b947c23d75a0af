// Hugging Face folders of encoder-decoders: MarianMT, BART, T5.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "convert/json.h"
#include "convert/spec.h"

namespace heed::tools {

// Whether config.json's "model_type" is that of an encoder-decoder.
bool is_encoder_decoder(const std::string& model_type);
// Their names, for messages: "bart, marian".
std::string encoder_decoder_names();
// Reads everything but the licence. `config` is the folder's config.json, `task` one of its tasks or empty.
Spec read_encoder_decoder(const std::filesystem::path& folder, Config& config, const std::string& task);

}  // namespace heed::tools
