// Any bytes as a .safetensors file: refused, or every tensor can be read.
// SPDX-License-Identifier: Apache-2.0
#include "convert/safetensors.h"

#include "fuzz/scratch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heed;
  testing::write_scratch("model.safetensors", testing::view_of(data, size));
  testing::accepts([] {
    const tools::Safetensors file = tools::read_safetensors(testing::scratch_folder() / "model.safetensors");
    for (const tools::SourceTensor& tensor : file.tensors) {
      testing::accepts([&] { tools::to_f32(tensor); });  // a type that heed does not read
    }
  });
  return 0;
}
