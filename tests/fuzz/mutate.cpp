// Changes model files at random, from a fixed seed, and tries them: fuzz_open SECONDS SEED FILE...
// SPDX-License-Identifier: Apache-2.0
//
// Nearly all files that it makes have the right checksum again, or the change would not be seen by what it is meant for.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/stateful.h"

namespace heed::testing {

bool try_file(const uint8_t* data, size_t size);  // open_fuzz.cpp

namespace {

using Random = std::mt19937;

uint32_t below(Random& random, size_t bound) { return static_cast<uint32_t>(random() % (bound == 0 ? 1 : bound)); }

// Numbers that are near the edge of something.
uint32_t edge(Random& random) {
  constexpr uint32_t kEdges[] = {0,      1,      2,          3,          7,          8,          9,          15,         16,         17,         63,
                                 64,     127,    128,        255,        256,        0x7fff,     0x8000,     0xffff,     0x10000,    0xffffff,   0x1000000,
                                 1u << 30, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x7f800000, 0x7fc00000, 0x3f800000, 0xff800000};
  return kEdges[below(random, std::size(kEdges))];
}

void change(AlignedBytes& file, size_t end, Random& random) {
  if (end < 8) return;
  const size_t at = below(random, end);
  const size_t word = below(random, end - 4) & ~size_t{3};
  uint32_t value;
  std::memcpy(&value, file.data() + word, 4);
  switch (below(random, 6)) {
    case 0: file[at] ^= static_cast<uint8_t>(1u << below(random, 8)); return;
    case 1: file[at] = static_cast<uint8_t>(random()); return;
    case 2: file[at] = static_cast<uint8_t>(file[at] + (random() % 2 ? 1 : -1)); return;
    case 3: value = edge(random); break;
    case 4: value += below(random, 17) - 8; break;
    default: {  // what stands elsewhere
      const size_t from = below(random, end), count = std::min<size_t>(below(random, 33), end - std::max(from, at));
      std::memmove(file.data() + at, file.data() + from, count);
      return;
    }
  }
  std::memcpy(file.data() + word, &value, 4);
}

AlignedBytes mutated(const std::vector<AlignedBytes>& files, Random& random) {
  AlignedBytes file = files[below(random, files.size())];
  const size_t tables = table_bytes(file);
  // One change in sixteen is to the weights.
  for (uint32_t n = 1 + below(random, 4); n > 0; --n) change(file, below(random, 16) == 0 ? file.size() : tables, random);
  if (table_bytes(file) + 8 <= file.size() && below(random, 16) != 0) reseal(file);
  if (below(random, 32) == 0) file.resize(below(random, file.size() + 1));
  if (below(random, 64) == 0) file.resize(file.size() + below(random, 200));
  return file;
}

}  // namespace
}  // namespace heed::testing

int main(int argc, char** argv) {
  using namespace heed::testing;
  if (argc < 4) return std::fprintf(stderr, "fuzz_open SECONDS SEED FILE...\n"), 2;
  std::vector<AlignedBytes> files;
  for (int i = 3; i < argc; ++i) {
    std::ifstream stream(argv[i], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    files.emplace_back(bytes.begin(), bytes.end());
    if (!try_file(files.back().data(), files.back().size())) {
      return std::fprintf(stderr, "%s does not open as it is\n", argv[i]), 1;
    }
  }
  // A model that keeps something between runs, as small as it may be.
  files.push_back(stateful({.heads = 2, .head_dim = 4, .hidden = 5, .max_rows = 8, .sources = true}).finish());
  if (!try_file(files.back().data(), files.back().size())) return std::fprintf(stderr, "the model with states does not open\n"), 1;
  Random random(static_cast<uint32_t>(std::atoi(argv[2])));
  uint64_t tried = 0, opened = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
  for (; std::chrono::steady_clock::now() < end; ++tried) {
    const AlignedBytes file = mutated(files, random);
    // The file that a crash leaves behind is the one that caused it.
    if (const char* path = std::getenv("HEED_FUZZ_KEEP")) {
      std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    }
    opened += try_file(file.data(), file.size());
  }
  std::printf("%llu files tried, %llu of them opened\n", static_cast<unsigned long long>(tried), static_cast<unsigned long long>(opened));
  // Changes that never get past the checksum would test nothing.
  return tried > 100 && opened > tried / 50 && opened < tried ? 0 : 1;
}
