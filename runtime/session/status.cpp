// Texts for statuses, and the limits to start from.
// SPDX-License-Identifier: Apache-2.0
#include "session/plan.h"

extern "C" const char* heed_status_text(heed_status status) {
  switch (status) {
    case HEED_OK: return "no error";
    case HEED_MISALIGNED: return "an address is not a multiple of 64";
    case HEED_TRUNCATED: return "the model file is cut short";
    case HEED_BAD_MAGIC: return "this is not a heed model file";
    case HEED_VERSION: return "the model file has a newer format than this library reads";
    case HEED_CORRUPT: return "the model file is damaged";
    case HEED_TOO_LARGE: return "a size is beyond what this machine or the format can hold";
    case HEED_UNSUPPORTED_OP: return "the model needs an op that this build does not have";
    case HEED_UNSUPPORTED: return "the model asks for something that this build does not support";
    case HEED_BAD_GRAPH: return "the model's graph is wrong";
    case HEED_BAD_SHAPE: return "shapes in the model do not fit each other";
    case HEED_BAD_WEIGHT: return "a weight of the model is misplaced or holds an impossible number";
    case HEED_ARENA_TOO_SMALL: return "the arena is too small";
    case HEED_BAD_LIMITS: return "a limit is out of range";
    case HEED_ISA: return "the instruction set asked for is not built in or not on this machine";
    case HEED_INEXACT_BUILD: return "this build was compiled with flags that change floating-point results";
    case HEED_INVALID_ARGUMENT: return "an argument is wrong";
    case HEED_TOO_LONG: return "there is more input, or there are more sequences or beams, than the limits allow";
    case HEED_BAD_INPUT: return "an id of the input is outside its table";
    case HEED_BUFFER_TOO_SMALL: return "a buffer is too small";
    case HEED_NO_TOKENIZER: return "the model has no tokenizer";
  }
  return "unknown status";
}

extern "C" void heed_default_limits(const heed_model* model, heed_limits* limits) {
  if (limits == nullptr) return;
  *limits = {};
  limits->size = sizeof *limits;
  limits->max_sequences = 1;
  limits->beams = 1;
  limits->workers = 1;
  limits->tile_rows = 32;
  if (model == nullptr || model->root == nullptr) return;
  limits->max_sequence_rows = heed::model_sequence_rows(*model);
  limits->max_rows = limits->max_sequence_rows;
  limits->max_context = heed::default_context(*model);
  const heed::schema::Metadata* metadata = heed::root(*model).metadata();
  const uint32_t rows = metadata == nullptr ? 0 : metadata->max_sequence_rows();
  if (rows >= 1 && rows < limits->max_sequence_rows) limits->max_sequence_rows = limits->max_rows = rows;
  const uint32_t tile_rows = metadata == nullptr ? 0 : metadata->tile_rows();
  if (tile_rows >= 8 && tile_rows <= heed::kMaxTileRows && tile_rows % 8 == 0) limits->tile_rows = tile_rows;
}
