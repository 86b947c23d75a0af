// Prints the embedding of a text with README.md's function: embed_cpp m.heed "A text."
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "heed/heed.hpp"
#include "heed_host.h"

heed::Status embed(const heed::Model& model, const char* text, void* arena, uint64_t arena_bytes, float* embedding);

namespace {

using Block = std::unique_ptr<void, void (*)(void*)>;

Block aligned_block(uint64_t bytes) {
  return {std::aligned_alloc(HEED_ALIGNMENT, (bytes / HEED_ALIGNMENT + 1) * HEED_ALIGNMENT), std::free};
}

int fail(heed::Status status) { return std::fprintf(stderr, "%s\n", status.text()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  const Block bytes = aligned_block(content.size());
  content.copy(static_cast<char*>(bytes.get()), content.size());

  heed::Model model;
  if (heed::Status s = model.open(bytes.get(), content.size()); !s.ok()) return fail(s);
  heed_memory memory;
  if (heed::Status s = model.required_bytes(heed::Limits(model), &memory); !s.ok()) return fail(s);
  const Block arena = aligned_block(memory.total_bytes);
  std::vector<float> embedding(4096);
  if (heed::Status s = embed(model, argv[2], arena.get(), memory.total_bytes, embedding.data()); !s.ok()) return fail(s);

  // With threads, the same bits; its rows say how long an embedding is.
  const heed::host::ThreadPool pool(2);
  const heed_platform platform = pool.platform();
  heed::Limits limits(model);
  limits.workers = 2;
  if (heed::Status s = model.required_bytes(limits, &memory); !s.ok()) return fail(s);
  const Block larger = aligned_block(memory.total_bytes);
  heed::Session session;
  if (heed::Status s = session.plan(model, limits, larger.get(), memory.total_bytes, &platform); !s.ok()) return fail(s);
  const int32_t id = 0;
  const heed_input input = heed::ids("tokens", &id, 1);
  if (heed::Status s = session.run(&input, 1); !s.ok()) return fail(s);
  for (uint32_t i = 0; i < session.output(0).features; ++i) std::printf("%.9g\n", static_cast<double>(embedding[i]));
  return 0;
}
