/* heed: attention models on small machines. C99 API.
 *
 * The caller owns all memory: the model's bytes and one arena. Nothing here allocates, prints, locks or starts
 * a thread.
 *
 *     heed_model model;
 *     heed_open(bytes, size, 0, &model, NULL);
 *     heed_limits limits;
 *     heed_default_limits(&model, &limits);
 *     heed_memory memory;
 *     heed_required_bytes(&model, &limits, &memory, NULL);
 *     void* arena = aligned_alloc(HEED_ALIGNMENT, memory.total_bytes);
 *     heed_session session;
 *     heed_plan(&model, &limits, arena, memory.total_bytes, NULL, &session, NULL);
 *     ... fill a heed_pass ...
 *     heed_run(&session, &pass, NULL);
 *
 * Threads: a heed_model is immutable after heed_open and may be shared by any number of sessions. A heed_session
 * is used by one thread at a time and shares nothing mutable with another session.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEED_HEED_H
#define HEED_HEED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default) /* what a shared library shows: these functions, nothing else */
#endif

/* Alignment in bytes of the model's bytes and of every arena. */
#define HEED_ALIGNMENT 64u
/* Most graphs in one file, inputs or outputs of one graph, and inputs or outputs of one node. */
#define HEED_MAX_GRAPHS 8u
#define HEED_MAX_PORTS 8u

/* What a call answers. Zero is success. */
typedef enum heed_status {
  HEED_OK = 0,
  /* The file. */
  HEED_MISALIGNED = 1,       /* a pointer is not a multiple of HEED_ALIGNMENT */
  HEED_TRUNCATED = 2,        /* the bytes end before the file does */
  HEED_BAD_MAGIC = 3,        /* not a heed model file */
  HEED_VERSION = 4,          /* written by a newer format than this library reads */
  HEED_CORRUPT = 5,          /* the tables do not verify, or a checksum differs */
  HEED_TOO_LARGE = 6,        /* a size does not fit this machine's pointers or the format's bounds */
  /* The model. */
  HEED_UNSUPPORTED_OP = 16,  /* the graph names an op that this build does not have */
  HEED_UNSUPPORTED = 17,     /* an attribute, format or layout that the op does not have */
  HEED_BAD_GRAPH = 18,       /* an id out of range, a value used before it is made or made twice */
  HEED_BAD_SHAPE = 19,       /* shapes that do not fit each other */
  HEED_BAD_WEIGHT = 20,      /* a weight outside the file, or with a scale that is not a positive number */
  /* Resources. */
  HEED_ARENA_TOO_SMALL = 32, /* heed_diagnostic.bytes_needed says what is needed */
  HEED_BAD_LIMITS = 33,      /* a limit is zero or above what the model allows */
  HEED_ISA = 34,             /* the instruction set asked for is not built in or not on this machine */
  HEED_INEXACT_BUILD = 35,   /* compiled with flags that change floating-point results */
  /* Use. */
  HEED_INVALID_ARGUMENT = 48,/* a null pointer, an unknown name, a wrong count */
  HEED_TOO_LONG = 49,        /* more rows, sequences or text than the limits allow */
  HEED_BAD_INPUT = 50,       /* an id outside its table */
  HEED_BUFFER_TOO_SMALL = 51,/* the needed size is reported, nothing partial is written */
  HEED_NO_TOKENIZER = 52
} heed_status;

/* A sentence for a person. Never null; lives for ever. */
const char* heed_status_text(heed_status status);

/* Where something went wrong: plain integers, so that a board can report without strings. Every field that says
 * nothing is -1. Each function that takes one accepts NULL. */
typedef struct heed_diagnostic {
  int32_t graph;
  int32_t node;
  int32_t weight;
  int32_t value;
  int32_t input;        /* index of a graph input */
  int64_t byte_offset;  /* in the file */
  int64_t found;        /* the number that was refused */
  int64_t expected;     /* the number (or bound) that was wanted */
  int64_t bytes_needed;
  const char* what;     /* a few words, or NULL; static */
} heed_diagnostic;

/* ---- Model ------------------------------------------------------------------------------------------------- */

/* A verified, read-only view of a model file. Owned by the caller; needs no closing. Fields are private. */
typedef struct heed_model {
  const void* bytes;
  uint64_t size;
  const void* root;
  const uint8_t* weights;
  uint64_t weight_bytes;
} heed_model;

/* For heed_open's `flags`: read and check every weight's checksum and scales too. Reads the whole file. */
#define HEED_OPEN_CHECK_WEIGHTS 1u

/* Verifies a model file and makes a view of it. `bytes` must be HEED_ALIGNMENT-aligned and outlive the model.
 * Reads the tables, not the weights (see HEED_OPEN_CHECK_WEIGHTS). Safe for bytes from anywhere.
 * Returns any status of the groups "file" and "model", or HEED_INEXACT_BUILD. */
heed_status heed_open(const void* bytes, uint64_t size, uint32_t flags, heed_model* model, heed_diagnostic* diagnostic);

/* ---- Limits and memory ------------------------------------------------------------------------------------- */

typedef enum heed_precision {
  HEED_PRECISION_AUTO = 0,  /* int8 where the weights are int8, else f32 */
  HEED_PRECISION_INT8 = 1,  /* attention's scores and pooling on int8 keys and values */
  HEED_PRECISION_F32 = 2    /* attention's scores and pooling on f32 keys and values */
} heed_precision;

/* What a session must be able to hold. Start from heed_default_limits. */
typedef struct heed_limits {
  uint32_t size;              /* sizeof(heed_limits) */
  uint32_t max_rows;          /* rows of all sequences of a pass together; 1 .. 2^24 */
  uint32_t max_sequences;     /* sequences of a pass, hypotheses counted; 1 .. max_rows */
  uint32_t max_sequence_rows; /* rows of one sequence; at most the model's own bound */
  uint32_t max_context;       /* rows that a state which is appended to holds for a sequence; 0 if the model has none */
  uint32_t beams;             /* hypotheses of one source: a state written once for each source has room for
                               * max_sequences / beams sources; 1 if the model has no states */
  uint32_t workers;           /* tasks that may run at the same time; 1 .. 256 */
  uint32_t tile_rows;         /* rows worked on together: 8 where RAM counts, 32 (the default) elsewhere; a multiple of 8 */
  uint32_t precision;         /* a heed_precision */
  uint32_t cache_format;      /* 0: f32 */
} heed_limits;

/* What a plan takes, exact to the byte. Depends on the model, the limits and the file only, never on the
 * instruction set, the compiler or the pointer size. */
typedef struct heed_memory {
  uint64_t total_bytes;       /* persistent_bytes + transient_bytes, both multiples of HEED_ALIGNMENT */
  uint64_t persistent_bytes;  /* session tables and states */
  uint64_t transient_bytes;   /* activations, workspace and scratch; models that never run at once may share it */
  uint64_t activation_bytes;  /* parts of transient_bytes */
  uint64_t workspace_bytes;
  uint64_t scratch_bytes;     /* of one worker */
  uint64_t live_peak_bytes;   /* the least any plan could use: what is live at the worst moment */
  uint64_t state_bytes;       /* part of persistent_bytes: what the session keeps between runs */
} heed_memory;

/* Limits for one sequence, as long as the file says that its texts get (else as its inputs take), one worker, tiles of
 * 32 rows or of what the file asks for. */
void heed_default_limits(const heed_model* model, heed_limits* limits);

/* HEED_BAD_LIMITS, HEED_TOO_LARGE. */
heed_status heed_required_bytes(const heed_model* model, const heed_limits* limits, heed_memory* memory,
                                heed_diagnostic* diagnostic);

/* ---- Platform ---------------------------------------------------------------------------------------------- */

/* One task of a job: `task` in [0, n), `worker` in [0, limits.workers); no two tasks run with the same worker at once. */
typedef void (*heed_task)(void* job, uint32_t task, uint32_t worker);

/* The four things that heed asks of a machine, and which instructions to use. Any pointer may be NULL: nothing is logged, ticks are 0, tasks run
 * one after another on the calling thread. */
typedef struct heed_platform {
  const char* isa;  /* forces an instruction set by name (see heed_isa_at); NULL: the best */
  void* context;
  void (*trap)(void* context, const char* message);  /* a programmer's mistake, debug builds only; must not return */
  void (*log)(void* context, const char* line);
  uint64_t (*ticks)(void* context);
  /* Runs task(job, 0 .. n-1, worker), in any order, and returns when all are done. */
  void (*run)(void* context, uint32_t n, heed_task task, void* job);
} heed_platform;

/* ---- Session ----------------------------------------------------------------------------------------------- */

/* A planned model in an arena. Owned by the caller; needs no closing: forget it and reuse the arena. Fields are
 * private. `model`, the arena and `platform` must outlive it. */
typedef struct heed_session {
  const heed_model* model;
  uint8_t* persistent;
  uint8_t* transient;
  const heed_platform* platform;
  const void* kernels;
  uint64_t stamp; /* also in the arena, until another session is planned into it */
  int32_t graph;  /* of the last run, or -1 */
} heed_session;

/* Lays the model out in an arena of at least heed_memory.total_bytes. `platform` may be NULL.
 * HEED_MISALIGNED, HEED_ARENA_TOO_SMALL (nothing is written), HEED_BAD_LIMITS, HEED_TOO_LARGE, HEED_ISA. */
heed_status heed_plan(const heed_model* model, const heed_limits* limits, void* arena, uint64_t arena_bytes,
                      const heed_platform* platform, heed_session* session, heed_diagnostic* diagnostic);

/* The same with the two parts in blocks of their own. */
heed_status heed_plan_split(const heed_model* model, const heed_limits* limits, void* persistent,
                            uint64_t persistent_bytes, void* transient, uint64_t transient_bytes,
                            const heed_platform* platform, heed_session* session, heed_diagnostic* diagnostic);

/* One input of a pass: all sequences one after another, no padding.
 * data: i32 [rows] ids, or f32 [rows, features]; read during heed_run only. NULL: an optional input's zeros.
 * lengths: [sequences] rows of each, adding up to `rows`, each at least 1; NULL: the lengths of an earlier input
 * with the same axis, or one sequence. */
typedef struct heed_input {
  const char* name;
  const void* data;
  uint32_t rows;
  const uint32_t* lengths;
} heed_input;

/* Attention weights as they are made: `weights[0 .. count)` belong to keys first_key .. of one query row of one
 * head. Called from workers, for rows in any order, keys of a row in order. All parts of a row add up to 1, or are all 0
 * where nothing may be attended to. */
typedef void (*heed_tap)(void* context, uint32_t node, uint32_t sequence, uint32_t head, uint32_t query,
                         uint32_t first_key, uint32_t count, const float* weights);

/* One run of one graph. Start from all zeros and set `size`. */
typedef struct heed_pass {
  uint32_t size;         /* sizeof(heed_pass) */
  const char* graph;     /* NULL: the first ("main") */
  uint32_t sequences;    /* 0 counts as 1 */
  uint32_t inputs_count;
  const heed_input* inputs;
  heed_tap tap;          /* NULL: off, at no cost */
  void* tap_context;
  uint32_t beams;        /* hypotheses of one source, 0 counts as 1: sequence s uses slot s of states of its own and
                          * slot s / beams of states written once for each source */
} heed_pass;

/* Runs a graph. Fails only for what the pass can cause: HEED_INVALID_ARGUMENT, HEED_TOO_LONG (a state that would
 * overflow, too), HEED_BAD_INPUT; then no output is valid, no state has changed and the session stays usable. Sets the floating-point control register to IEEE defaults and
 * restores it. Not-a-number or infinite inputs give not-a-number in the rows they touch, never a crash. */
heed_status heed_run(heed_session* session, const heed_pass* pass, heed_diagnostic* diagnostic);

/* An output of the last run: f32 [rows, features], rows `stride` floats apart, in the arena; valid until the
 * session's next run. */
typedef struct heed_output {
  const char* name;
  const float* data;
  uint32_t rows;
  uint32_t features;
  uint32_t stride;
} heed_output;

/* By place; HEED_INVALID_ARGUMENT past the last output or before the first run. */
heed_status heed_get_output(const heed_session* session, uint32_t index, heed_output* output);

/* ---- States (what a session keeps between runs: keys and values, recurrent rows) ----------------------------- */

/* Empties all states, as after heed_plan: no keys, recurrent rows of zeros. HEED_INVALID_ARGUMENT. */
heed_status heed_reset(heed_session* session);

/* Makes sequence i's own states (those appended to, and recurrent rows) a copy of what sequence parents[i] has, for i in
 * [0, count), all at once: beam search, and one encoded source for all its hypotheses. Only a parent named more than once
 * is copied. Sequences from `count` on become empty. States written once for each source stay.
 * parents: [count], each below limits.max_sequences; count at most limits.max_sequences. HEED_INVALID_ARGUMENT. */
heed_status heed_reorder(heed_session* session, const uint32_t* parents, uint32_t count);

/* ---- Instruction sets -------------------------------------------------------------------------------------- */

/* The instruction set a session runs on: heed_platform.isa if it was given, else the best there is. */
const char* heed_session_isa(const heed_session* session);
/* Names of what is built in, best first, by place; NULL past the last. `runs` (may be NULL) tells whether this machine can. */
const char* heed_isa_at(uint32_t index, int32_t* runs);

/* ---- Text (component heed::text) --------------------------------------------------------------------------- */

/* One token of a text. */
typedef struct heed_token {
  uint32_t id;
  uint32_t begin;  /* bytes of the text it stands for; begin == end for special tokens */
  uint32_t end;
} heed_token;

/* A translator has two vocabularies: that of its input, and that of its output. Other models have one, which is both. */
typedef enum heed_side { HEED_SOURCE = 0, HEED_TARGET = 1 } heed_side;

#define HEED_NO_TOKEN 0xffffffffu

/* Splits `text` (any bytes; invalid UTF-8 counts as U+FFFD) into tokens, special ones included, cut to `max_tokens`
 * (0: the model's own truncation) as sentence-transformers does it. Special tokens always stay: fewer max_tokens than
 * those are HEED_INVALID_ARGUMENT. Their spelling inside `text` ("[SEP]") is plain text; added tokens that
 * are no special ones are found. `count` always gets the full
 * number needed; HEED_BUFFER_TOO_SMALL writes nothing else. Room for max_tokens spares a second pass over the text.
 * HEED_NO_TOKENIZER, HEED_UNSUPPORTED, HEED_CORRUPT, HEED_TOO_LONG (over 2^31 bytes). No heap. */
heed_status heed_tokenize(const heed_model* model, const char* text, uint64_t bytes, uint32_t max_tokens,
                          heed_token* tokens, uint32_t capacity, uint32_t* count);
/* The bytes of a token's piece as the vocabulary spells it (of GPT-2's bytes: the bytes that it stands for, which need not be whole
 * characters); NULL for an id outside it. Not zero-terminated. */
const char* heed_token_piece(const heed_model* model, uint32_t id, uint32_t* bytes);
/* The id that stands for what a side's vocabulary does not have; HEED_NO_TOKEN if there is no tokenizer. */
uint32_t heed_unknown_token(const heed_model* model, heed_side side);

/* Bytes of a text, not zero-terminated. */
typedef struct heed_span {
  const char* text;
  uint32_t bytes;
} heed_span;

/* Tokens of the target's vocabulary. copies: NULL, or [count]: where `text` is not NULL, it stands in the place of what the
 * vocabulary has for that token. */
typedef struct heed_ids {
  const uint32_t* ids;
  uint32_t count;
  const heed_span* copies;
} heed_ids;

/* Joins tokens to a text (not zero-terminated), with spaces where a person writes them ("je t' aime ." is "je t'aime."). What
 * begins and ends an output is left out, and so are other special tokens; what a subword vocabulary does not have is " \xE2\x81\x87 ".
 * `bytes` always gets the number needed; HEED_BUFFER_TOO_SMALL writes nothing else. Subwords may end inside a character: the text of
 * more tokens begins with the text of fewer, byte for byte, so that who writes as tokens come waits for heed_whole_characters.
 * HEED_NO_TOKENIZER, HEED_UNSUPPORTED (wordpiece), HEED_CORRUPT, HEED_BAD_INPUT (an id outside the vocabulary). No heap. */
heed_status heed_detokenize(const heed_model* model, const heed_ids* ids, char* text, uint64_t capacity, uint64_t* bytes);

/* How many bytes of a text are whole characters: all of them, but for a last one of which a part is still to come. */
uint64_t heed_whole_characters(const char* text, uint64_t bytes);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
