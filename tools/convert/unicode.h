// Unicode data for the tokenizers in a model file: the normalizer's tables, worked out for every code point.
// SPDX-License-Identifier: Apache-2.0
//
// The tables repeat what the `tokenizers` library does, which takes its data from three versions of Unicode:
// categories (control characters, punctuation, accents) from 8.0, decompositions and the order of marks from 9.0,
// lower case from that of the Rust it was built with. The last is held at 15.0 here, so that a file does not depend
// on the ICU of the machine that converts: ICU tells since when a code point exists.
#pragma once
#include <cstdint>
#include <set>

#include "model_generated.h"

namespace heed::tools {

// BERT's normalizer, by the names of tokenizer.json.
struct NormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

// Fills direct, runs, entries and replacements. `alphabet` has the code points of all pieces: what a code point that
// is in no piece is turned into makes no difference if that is in no piece either, so the tables leave it out.
// Null: leave nothing out.
void build_normalizer(const NormalizerOptions& options, const std::set<uint32_t>* alphabet, schema::TokenizerT& out);

// Fills direct, runs and entries with the classes that GPT-2's pattern tells apart (runtime/text/gpt2_words.h).
void build_gpt2_classes(schema::TokenizerT& out);

}  // namespace heed::tools
