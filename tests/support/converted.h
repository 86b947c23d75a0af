// A model converted from a folder of checkpoints or graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "convert/convert.h"
#include "files.h"
#include "support/temporary_folder.h"
#include "support/test_session.h"

namespace heed::testing {

inline AlignedBytes converted(const std::filesystem::path& source, const std::string& weights) {
  const tools::TemporaryFolder folder;
  tools::ConvertOptions options;
  options.source = source;
  options.output = folder.path() / "m.heed";
  options.weights = weights;
  tools::convert(options);
  const tools::MappedFile file(options.output);
  return AlignedBytes(file.data(), file.data() + file.size());
}

}  // namespace heed::testing
