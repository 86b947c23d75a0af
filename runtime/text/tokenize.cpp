// The text part of the C API: a text with its special tokens, cut to a length; and the spelling of a token.
// SPDX-License-Identifier: Apache-2.0
#include "model/weight.h"
#include "text/added.h"
#include "text/bpe.h"
#include "text/tokenizer.h"
#include "text/unigram.h"
#include "text/vocabulary.h"
#include "text/word.h"
#include "text/wordpiece.h"

namespace heed {
namespace {

using Ids = ::flatbuffers::Vector<uint32_t>;

uint32_t count_of(const Ids* ids) { return ids ? ids->size() : 0; }

bool in_vocabulary(const Ids* ids, uint32_t vocabulary) {
  for (uint32_t i = 0; i < count_of(ids); ++i) {
    if (ids->Get(i) >= vocabulary) return false;
  }
  return true;
}

void write(const Ids* ids, uint32_t place, heed_token* out) {
  for (uint32_t i = 0; i < count_of(ids); ++i) out[i] = {ids->Get(i), place, place};
}

// How many tokens a text may have, and how many of them are special.
struct Budget {
  uint32_t special;
  uint32_t total;  // kMaxTokens: no bound
};

heed_status make_budget(const schema::Tokenizer& table, uint32_t max_tokens, Budget* budget) {
  const uint64_t special = uint64_t{count_of(table.prefix())} + count_of(table.suffix());
  const uint32_t wanted = max_tokens != 0 ? max_tokens : table.truncation();
  if (special > kMaxSpecialTokens || !in_vocabulary(table.prefix(), table.vocabulary()) ||
      !in_vocabulary(table.suffix(), table.vocabulary())) {
    return HEED_CORRUPT;
  }
  *budget = {static_cast<uint32_t>(special), wanted != 0 && wanted < kMaxTokens ? wanted : kMaxTokens};
  if (budget->total >= special) return HEED_OK;
  return max_tokens != 0 ? HEED_INVALID_ARGUMENT : HEED_CORRUPT;
}

// `Splitter` turns text into tokens without special ones.
template <class Splitter>
heed_status tokenize_by(const schema::Tokenizer& table, const TokenizeRequest& request, uint32_t* count) {
  heed_status status = Splitter::check(table);
  if (status == HEED_OK) status = AddedTokens::check(table);
  Budget budget;
  if (status == HEED_OK) status = make_budget(table, request.max_tokens, &budget);
  if (status != HEED_OK) return status;

  const auto* text = reinterpret_cast<const uint8_t*>(request.text);
  const auto bytes = static_cast<uint32_t>(request.bytes);
  const Splitter splitter(table);
  const AddedTokens added(table);
  const uint32_t before = count_of(table.prefix());
  // Nothing may be written unless all of it fits. Room for the longest result needs no counting beforehand.
  bool fits = request.capacity >= budget.total;
  TokenSink sink = {nullptr, budget.total - budget.special, 0};
  if (!fits) {
    split_around_added(added, splitter, text, bytes, sink);
    if (budget.total == kMaxTokens && sink.count >= sink.limit) return HEED_TOO_LONG;
    sink.limit = sink.count < sink.limit ? sink.count : sink.limit;
    fits = request.capacity >= budget.special + sink.limit;
    *count = budget.special + sink.limit;
  }
  if (!fits) return HEED_BUFFER_TOO_SMALL;
  sink = {request.tokens + before, sink.limit, 0};
  split_around_added(added, splitter, text, bytes, sink);
  const uint32_t kept = sink.count < sink.limit ? sink.count : sink.limit;
  write(table.prefix(), 0, request.tokens);
  write(table.suffix(), bytes, request.tokens + before + kept);
  *count = budget.special + kept;
  return HEED_OK;
}

}  // namespace

heed_status tokenize(const schema::Tokenizer& table, const TokenizeRequest& request, uint32_t* count) {
  *count = 0;
  if (table.kind() != schema::TokenizerKind::none && request.bytes > kMaxTextBytes) return HEED_TOO_LONG;
  switch (table.kind()) {
    case schema::TokenizerKind::none: return HEED_NO_TOKENIZER;
    case schema::TokenizerKind::wordpiece: return tokenize_by<WordPiece>(table, request, count);
    case schema::TokenizerKind::word: return tokenize_by<WordSplitter>(table, request, count);
    case schema::TokenizerKind::bpe: return tokenize_by<Bpe>(table, request, count);
    case schema::TokenizerKind::unigram: return tokenize_by<Unigram>(table, request, count);
    default: return HEED_UNSUPPORTED;
  }
}

const schema::Tokenizer* tokenizer_of(const heed_model& model, heed_side side) {
  const schema::Model& tables = root(model);
  return side == HEED_TARGET && tables.target_tokenizer() ? tables.target_tokenizer() : tables.tokenizer();
}

const char* token_piece(const schema::Tokenizer& table, uint32_t id, uint32_t* bytes) {
  *bytes = 0;
  if (!Vocabulary::valid(table)) return nullptr;
  const Piece piece = Vocabulary(table).piece(id);
  *bytes = piece.count;
  return reinterpret_cast<const char*>(piece.bytes);
}

}  // namespace heed

extern "C" {

heed_status heed_tokenize(const heed_model* model, const char* text, uint64_t bytes, uint32_t max_tokens,
                          heed_token* tokens, uint32_t capacity, uint32_t* count) {
  if (!count) return HEED_INVALID_ARGUMENT;
  *count = 0;
  if (!model || !model->root || (!text && bytes != 0) || (!tokens && capacity != 0)) return HEED_INVALID_ARGUMENT;
  const heed::schema::Tokenizer* table = heed::tokenizer_of(*model, HEED_SOURCE);
  if (!table) return HEED_NO_TOKENIZER;
  return heed::tokenize(*table, {text, bytes, max_tokens, tokens, capacity}, count);
}

const char* heed_token_piece(const heed_model* model, uint32_t id, uint32_t* bytes) {
  uint32_t ignored;
  if (!bytes) bytes = &ignored;
  *bytes = 0;
  if (!model || !model->root || !heed::root(*model).tokenizer()) return nullptr;
  return heed::token_piece(*heed::root(*model).tokenizer(), id, bytes);
}

uint32_t heed_unknown_token(const heed_model* model, heed_side side) {
  const heed::schema::Tokenizer* table = model && model->root ? heed::tokenizer_of(*model, side) : nullptr;
  return table && table->kind() != heed::schema::TokenizerKind::none ? table->unknown() : HEED_NO_TOKEN;
}

}  // extern "C"
