// Opens a converted file and runs it through the C API.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heed::test {

struct ModelInput {
  std::string name;
  std::vector<int32_t> ids;   // either these
  std::vector<float> values;  // or these, [rows, features]
  uint32_t rows = 0;          // of values
};

struct ModelOutput {
  std::string name;
  uint32_t rows = 0;
  uint32_t features = 0;
  std::vector<float> values;  // [rows, features]
};

// The first output of the first graph. Throws std::runtime_error for any status but HEED_OK.
ModelOutput run_model(const std::filesystem::path& file, const std::vector<ModelInput>& inputs);

}  // namespace heed::test
