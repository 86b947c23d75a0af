/* A program that opens, plans, runs and tokenizes, as a user's does: what a linker takes from heed for it is what heed costs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "heed/heed.h"

static _Alignas(HEED_ALIGNMENT) unsigned char file[1 << 20];
static _Alignas(HEED_ALIGNMENT) unsigned char arena[1 << 20];

static int fail(heed_status status) { return fprintf(stderr, "%s\n", heed_status_text(status)), 1; }

int main(int argc, char** argv) {
  const uint64_t size = fread(file, 1, sizeof file, stdin);
  heed_model model;
  heed_status status = heed_open(file, size, HEED_OPEN_CHECK_WEIGHTS, &model, NULL);
  if (status != HEED_OK || argc != 2) return fail(status);
  heed_limits limits;
  heed_memory memory;
  heed_default_limits(&model, &limits);
  if ((status = heed_required_bytes(&model, &limits, &memory, NULL)) != HEED_OK) return fail(status);
  heed_session session;
  status = heed_plan(&model, &limits, arena, memory.total_bytes, NULL, &session, NULL);
  if (status != HEED_OK) return fail(status);

  heed_token tokens[64];
  int32_t ids[64];
  uint32_t count = 0;
  uint64_t bytes = 0;
  while (argv[1][bytes]) ++bytes;
  status = heed_tokenize(&model, argv[1], bytes, 64, tokens, 64, &count);
  if (status != HEED_OK) return fail(status);
  for (uint32_t i = 0; i < count; ++i) ids[i] = (int32_t)tokens[i].id;
  const heed_input input = {"tokens", ids, count, NULL};
  const heed_pass pass = {.size = sizeof pass, .inputs_count = 1, .inputs = &input};
  if ((status = heed_run(&session, &pass, NULL)) != HEED_OK) return fail(status);
  heed_output output;
  if ((status = heed_get_output(&session, 0, &output)) != HEED_OK) return fail(status);
  for (uint32_t i = 0; i < output.features; ++i) printf("%.9g\n", (double)output.data[i]);
  return 0;
}
