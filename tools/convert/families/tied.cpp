// SPDX-License-Identifier: Apache-2.0
#include "convert/families/tied.h"

#include <cstring>

#include "error.h"

namespace heed::tools {

SourceTensor tied_tensor(Checkpoint& checkpoint, const std::vector<std::string>& names, const std::vector<uint64_t>& shape,
                         const std::string& why) {
  std::vector<SourceTensor> found;
  for (const std::string& name : names) {
    if (checkpoint.has(name)) found.push_back(checkpoint.take(name, shape, why));
  }
  if (found.empty()) return checkpoint.take(names.at(0));  // says that it is missing
  for (const SourceTensor& other : found) {
    if (other.type == found[0].type && std::memcmp(other.data, found[0].data, other.bytes) == 0) continue;
    throw Error(other.title() + " differs from '" + found[0].name + "', but " + why +
                " says that they are one; save the model again, or correct \"tie_word_embeddings\"");
  }
  return found[0];
}

}  // namespace heed::tools
