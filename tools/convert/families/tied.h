// Tensors that a model uses twice and a checkpoint may hold once or several times.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "convert/checkpoint.h"

namespace heed::tools {

// The one tensor, of this shape, that goes by all of these names: the first that the checkpoint has. Throws Error if it has none,
// or two with other numbers.
SourceTensor tied_tensor(Checkpoint& checkpoint, const std::vector<std::string>& names, const std::vector<uint64_t>& shape,
                         const std::string& why);

}  // namespace heed::tools
