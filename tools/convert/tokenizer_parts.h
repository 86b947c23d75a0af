// What the files of all kinds of tokenizers have in common.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convert/json.h"
#include "convert/tokenizer.h"

namespace heed::tools {

// Part of a file, with a name for messages; a list in one.
Config part(Config& whole, const std::string& key);
const Json& list(Config& whole, const std::string& key);

// {"piece": id, ...} with the ids 0 .. n - 1, each once. `vocabulary` may be null, or anything.
std::vector<std::string> pieces_by_id(const Json* vocabulary, const std::string& where);

// 'text' for a message, cut if it is long.
std::string in_quotes(const std::string& text);

schema::AddedTokenT read_added_token(Config config);
// An added token may be a piece already, or come after the last one.
void add_token(schema::AddedTokenT token, TokenizerSpec& spec);
// tokenizer.json's "added_tokens", if there are any.
void read_added_tokens(Config& whole, TokenizerSpec& spec);

// What stands before and after a text.
void read_post_processor(Config config, TokenizerSpec& spec);

std::optional<Config> read_tokenizer_config(const std::filesystem::path& folder);

// A special token is written as its text, or as an object with its flags.
std::string token_text(Config& config, const std::string& key, const std::string& otherwise);

}  // namespace heed::tools
