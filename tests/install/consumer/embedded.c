/* Prints the embedding of a text by the model that heed_add_model put into the program: embedded "A text."
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/heed.h"
#include "tiny_model.h"

enum { kMostTokens = 512 };

static int fail(heed_status status) { return fprintf(stderr, "%s\n", heed_status_text(status)), 1; }

int main(int argc, char** argv) {
  heed_model model;
  heed_token tokens[kMostTokens];
  int32_t ids[kMostTokens];
  uint32_t rows = 0;
  if (argc != 2) return 2;
  heed_status status = heed_open(tiny_model, (uint64_t)(tiny_model_end - tiny_model), HEED_OPEN_CHECK_WEIGHTS, &model, NULL);
  if (status == HEED_OK) status = heed_tokenize(&model, argv[1], strlen(argv[1]), 0, tokens, kMostTokens, &rows);
  if (status != HEED_OK) return fail(status);
  for (uint32_t i = 0; i < rows; ++i) ids[i] = (int32_t)tokens[i].id;

  heed_limits limits;
  heed_memory memory;
  heed_session session;
  heed_default_limits(&model, &limits);
  status = heed_required_bytes(&model, &limits, &memory, NULL);
  if (status != HEED_OK) return fail(status);
  void* arena = aligned_alloc(HEED_ALIGNMENT, (size_t)memory.total_bytes);
  status = heed_plan(&model, &limits, arena, memory.total_bytes, NULL, &session, NULL);
  if (status != HEED_OK) return fail(status);

  const heed_input input = {"tokens", ids, rows, NULL};
  const heed_pass pass = {.size = sizeof(pass), .inputs_count = 1, .inputs = &input};
  heed_output output;
  status = heed_run(&session, &pass, NULL);
  if (status == HEED_OK) status = heed_get_output(&session, 0, &output);
  if (status != HEED_OK) return fail(status);
  for (uint32_t i = 0; i < output.features; ++i) printf("%.9g\n", (double)output.data[i]);
  free(arena);
  return 0;
}
