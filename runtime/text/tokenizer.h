// Text into the tokens that a model reads: special ones around it, cut to a length.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "heed/heed.h"
#include "model_generated.h"

namespace heed {

inline constexpr uint64_t kMaxTextBytes = uint64_t{1} << 31;
inline constexpr uint32_t kMaxTokens = 0xFFFF0000u;  // leaves room for the last word of a count
inline constexpr uint32_t kMaxSpecialTokens = 64;    // around one text

// heed_tokenize with the table in the place of a model.
struct TokenizeRequest {
  const char* text;
  uint64_t bytes;
  uint32_t max_tokens;  // 0: the table's truncation
  heed_token* tokens;
  uint32_t capacity;
};
heed_status tokenize(const schema::Tokenizer& table, const TokenizeRequest& request, uint32_t* count);

// heed_detokenize with the table in the place of a model.
using DetokenizeRequest = heed_ids;
heed_status detokenize(const schema::Tokenizer& table, const DetokenizeRequest& request, char* text, uint64_t capacity,
                       uint64_t* bytes);

// The tokenizer of a side: the target's is the source's where the file has only one. Null: none.
const schema::Tokenizer* tokenizer_of(const heed_model& model, heed_side side);

// heed_token_piece with the table in the place of a model.
const char* token_piece(const schema::Tokenizer& table, uint32_t id, uint32_t* bytes);

}  // namespace heed
