/* heed: generating an output token by token with an encoder-decoder (component heed::generate). C99 API.
 *
 * The model has a graph `encode`, which takes the ids of an input and fills states, and a graph `decode`, which takes one id
 * of the output so far and gives the logits of the next. The search needs a block of memory beside the arena, whose size is
 * known beforehand, too.
 *
 *     heed_generate_options options;
 *     heed_default_generate_options(&model, &options);
 *     options.beams = 4;
 *     uint64_t bytes;
 *     heed_generate_bytes(&options, &bytes, NULL);
 *     heed_generation task = {&options, source_ids, source_count, aligned_alloc(HEED_ALIGNMENT, bytes), bytes};
 *     heed_generated output;
 *     heed_generate(&session, &task, &output, NULL);      // session: planned with limits.beams and max_sequences of 4
 *     ... heed_detokenize(output.tokens ...) ...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEED_GENERATE_H
#define HEED_GENERATE_H

#include "heed/heed.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* How to search. Start from heed_default_generate_options. A token may be HEED_NO_TOKEN where that is said. */
typedef struct heed_generate_options {
  uint32_t size;          /* sizeof(heed_generate_options) */
  uint32_t beams;         /* hypotheses kept at the same time: 1 .. 1,024; 1 takes the likeliest token each time */
  uint32_t max_tokens;    /* most tokens of an output, the stop token counted; 1 .. 2^20 */
  uint32_t min_tokens;    /* the stop token is not taken before so many others */
  float length_penalty;   /* hypotheses are compared by the sum of their log probabilities / tokens^length_penalty; -4 .. 4 */
  uint32_t start_token;   /* what `decode` reads first */
  uint32_t stop_token;    /* ends an output; or none */
  uint32_t forced_first;  /* what an output begins with, whatever its probability (counted as 1); or none */
  uint32_t forced_last;   /* what ends an output that gets as long as max_tokens, likewise,
                              instead of forced_first if that is the first, too; or none */
  uint32_t no_repeat;     /* no sequence of so many tokens (start token included) comes twice; 0: any may */
  uint32_t early_stopping; /* one of HEED_EARLY_STOPPING_ */
  uint32_t suppressed_count;
  const uint32_t* suppressed; /* [suppressed_count] tokens that are in no output, though they count in probabilities; or null */
} heed_generate_options;

/* When a search with `beams` finished outputs ends; one of a single beam, with its first. */
enum {
  HEED_EARLY_STOPPING_OFF = 0,   /* when the best continuation, measured as if it ended here, is not better than any of them */
  HEED_EARLY_STOPPING_ON = 1,    /* at once */
  HEED_EARLY_STOPPING_NEVER = 2  /* when no continuation can become better, however long it gets */
};

/* What the file says about searches; where it says nothing: one beam, no penalties, tokens that begin and end an output as the
 * file's target tokenizer says, and as many tokens as the file's max_context: what states that grow have room for, within the
 * default limits. */
void heed_default_generate_options(const heed_model* model, heed_generate_options* options);

/* Bytes of the block that a search takes, the same on every machine. HEED_INVALID_ARGUMENT. */
heed_status heed_generate_bytes(const heed_generate_options* options, uint64_t* bytes, heed_diagnostic* diagnostic);

/* One input and how its output is searched. */
typedef struct heed_generation {
  const heed_generate_options* options;
  const int32_t* source;  /* [source_count] ids for `encode` */
  uint32_t source_count;  /* at least 1 */
  void* block;            /* HEED_ALIGNMENT-aligned */
  uint64_t block_bytes;   /* at least heed_generate_bytes */
} heed_generation;

/* The best output, in the block: valid until the block is used again. */
typedef struct heed_generated {
  const uint32_t* tokens;          /* [count], without start and stop token */
  const float* log_probabilities;  /* [count], natural logarithms; 0 for a forced token */
  uint32_t count;
  uint32_t stopped;                /* 1: the stop token ended it; 0: max_tokens did */
  float score;                     /* what hypotheses are compared by */
} heed_generated;

/* Beam search: empties the session's states, runs `encode` once and `decode` at most max_tokens times. Of equal scores the one
 * of the earlier hypothesis, then of the lower id comes first, so that tokens are the same on every machine. Each step looks
 * at the 2 x beams best continuations; those that stop and are among the first `beams` of them are finished. When the search ends
 * is early_stopping's to say, or max_tokens'.
 * HEED_UNSUPPORTED (the model has no graphs `encode` and `decode` with one input of ids each), HEED_INVALID_ARGUMENT,
 * HEED_BUFFER_TOO_SMALL (the block), HEED_TOO_LONG (source, beams or max_tokens beyond the limits), HEED_BAD_INPUT (an id
 * outside its table, or logits that are not numbers). Then the states are as heed_reset leaves them, or partly filled. */
heed_status heed_generate(heed_session* session, const heed_generation* task, heed_generated* output,
                          heed_diagnostic* diagnostic);

/* What is called for the attention of an output's tokens. */
typedef struct heed_retrace_tap {
  heed_tap tap;   /* of nodes of `decode`; query: the place of the token that is being chosen; sequence: 0 */
  void* context;
} heed_retrace_tap;

/* Runs `encode`, then `decode` over an output that is known (its start token is put before it), with a tap: attention
 * weights for each token, with the bits that the search had. Uses no block. Statuses as
 * heed_generate. */
heed_status heed_retrace(heed_session* session, const heed_generation* task, const uint32_t* tokens, uint32_t count,
                         const heed_retrace_tap* tap, heed_diagnostic* diagnostic);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
