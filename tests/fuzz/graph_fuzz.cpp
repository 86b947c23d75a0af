// Any bytes as a graph.json beside good weights and vocabularies: refused, or converted into a file that heed opens, since
// `convert` opens and plans what it wrote. HEED_FUZZ_GRAPH names the folder that the rest comes from.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "convert/convert.h"
#include "fuzz/scratch_file.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("HEED_FUZZ_GRAPH");
  if (folder == nullptr) std::abort();
  for (const char* name : {"weights.safetensors", "source.txt", "target.txt"}) {
    std::filesystem::copy(std::filesystem::path(folder) / name, heed::testing::scratch_folder() / name);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heed;
  testing::write_scratch("graph.json", testing::view_of(data, size));
  tools::ConvertOptions options;
  options.source = testing::scratch_folder();
  options.output = testing::scratch_folder() / "out.heed";
  testing::accepts([&] { tools::convert(options); });
  return 0;
}
