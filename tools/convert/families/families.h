// Model families: each builds its graph from a Hugging Face config and the checkpoint's tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "convert/checkpoint.h"
#include "convert/graph_builder.h"
#include "convert/json.h"

namespace heed::tools {

// What a family has built so far: an encoder whose last value has a row for each token.
struct Encoder {
  uint16_t hidden;
  uint32_t features;
  uint32_t max_rows;    // of the position table
  uint32_t vocabulary;  // rows of the token table
};

// Reads every key it knows from `config`; the caller refuses the rest.
Encoder build_bert(Config& config, Checkpoint& checkpoint, GraphBuilder& graph);
Encoder build_distilbert(Config& config, Checkpoint& checkpoint, GraphBuilder& graph);

// What a family has built: the graphs `encode` and `decode`, and what tokenizers have to fit.
struct EncoderDecoder {
  uint32_t source_vocabulary;  // rows of the token tables
  uint32_t target_vocabulary;
  uint32_t most_tokens;           // of an output; 0: any number
};
EncoderDecoder build_marian(Config& config, Checkpoint& checkpoint, Spec& spec);
EncoderDecoder build_bart(Config& config, Checkpoint& checkpoint, Spec& spec);
EncoderDecoder build_t5(Config& config, Checkpoint& checkpoint, Spec& spec);

// The activation that a config calls by `name`. Throws Error naming `key` and the value for one heed does not have.
schema::ActivationKind activation_named(const std::string& name, const std::string& where, const std::string& key);

}  // namespace heed::tools
