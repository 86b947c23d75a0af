// Embeds texts with one instruction set and prints a digest of what comes out, that of `heed run --digest`; for emulators, where
// the whole tool takes long to build and to start.
//
//     embed                                  the instruction sets that run here, best first, one a line
//     embed MODEL ISA TILE_ROWS < TEXTS      a pass for each line; prints the instruction set and the digest
//
// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "heed/heed.h"
#include "model/xxh64.h"

namespace {

void expect(heed_status status, const char* what) {
  if (status == HEED_OK) return;
  std::fprintf(stderr, "embed: error: %s: %s\n", what, heed_status_text(status));
  std::exit(1);
}

// Aligned as heed wants it; never freed.
uint8_t* allocate(uint64_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, HEED_ALIGNMENT, bytes) != 0) expect(HEED_ARENA_TOO_SMALL, "memory");
  return static_cast<uint8_t*>(memory);
}

heed_model open(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file || std::fseek(file, 0, SEEK_END) != 0) expect(HEED_INVALID_ARGUMENT, path);
  const long size = std::ftell(file);
  std::rewind(file);
  uint8_t* bytes = allocate(static_cast<uint64_t>(size));
  if (std::fread(bytes, 1, static_cast<size_t>(size), file) != static_cast<size_t>(size)) expect(HEED_TRUNCATED, path);
  std::fclose(file);
  heed_model model;
  expect(heed_open(bytes, static_cast<uint64_t>(size), 0, &model, nullptr), path);
  return model;
}

std::vector<int32_t> tokens_of(const heed_model& model, const char* text, uint32_t most) {
  std::vector<heed_token> tokens(most);
  uint32_t count = 0;
  expect(heed_tokenize(&model, text, std::strlen(text), most, tokens.data(), most, &count), text);
  std::vector<int32_t> ids;
  for (uint32_t i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(tokens[i].id));
  return ids;
}

void embed(heed_session& session, const std::vector<int32_t>& ids, std::vector<float>& values) {
  const heed_input input{"tokens", ids.data(), static_cast<uint32_t>(ids.size()), nullptr};
  heed_pass pass{};
  pass.size = sizeof pass;
  pass.inputs_count = 1;
  pass.inputs = &input;
  expect(heed_run(&session, &pass, nullptr), "run");
  heed_output output;
  expect(heed_get_output(&session, 0, &output), "output");
  values.insert(values.end(), output.data, output.data + output.features);
}

void list_isas() {
  int32_t runs = 0;
  for (uint32_t i = 0; const char* name = heed_isa_at(i, &runs); ++i) {
    if (runs) std::puts(name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return list_isas(), 0;
  if (argc != 4) return std::fputs("usage: embed [MODEL ISA TILE_ROWS]\n", stderr), 2;
  const heed_model model = open(argv[1]);
  heed_limits limits;
  heed_default_limits(&model, &limits);
  limits.tile_rows = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
  heed_memory memory;
  expect(heed_required_bytes(&model, &limits, &memory, nullptr), "limits");
  heed_platform platform{};
  platform.isa = argv[2];
  heed_session session;
  expect(heed_plan(&model, &limits, allocate(memory.total_bytes), memory.total_bytes, &platform, &session, nullptr), argv[2]);

  std::vector<float> values;
  static char line[1 << 16];
  while (std::fgets(line, std::size(line), stdin)) {
    line[std::strcspn(line, "\n")] = '\0';
    if (line[0]) embed(session, tokens_of(model, line, limits.max_sequence_rows), values);
  }
  std::printf("%s %016" PRIx64 "\n", heed_session_isa(&session), heed::xxh64(values.data(), values.size() * sizeof(float)));
  return 0;
}
