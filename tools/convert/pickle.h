// Checkpoints that heed does not read, and what becomes of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

namespace heed::tools {

// Throws Error, with what to do, if the folder has PyTorch's pickled file where `wanted` was looked for. What to do depends on
// what its config.json says, and never writes over a file of the folder.
void refuse_pickle(const std::filesystem::path& folder, const std::string& wanted);

}  // namespace heed::tools
