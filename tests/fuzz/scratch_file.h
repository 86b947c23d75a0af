// Files for readers that want a path, made anew for each input; and what a reader may answer to one that is wrong.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <fstream>
#include <string_view>

#include "support/temporary_folder.h"

namespace heed::testing {

// A folder for this process.
inline const std::filesystem::path& scratch_folder() {
  static const tools::TemporaryFolder folder;
  return folder.path();
}

inline void write_scratch(const std::string& name, std::string_view bytes) {
  std::ofstream(scratch_folder() / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string_view view_of(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

// Whether `read` was content. A refusal is an Error (or wrong usage) with something to say; anything else that is thrown ends the fuzzer.
template <class Read>
bool accepts(const Read& read) {
  try {
    read();
    return true;
  } catch (const tools::Error& error) {
    if (error.what()[0] == '\0') __builtin_trap();
  } catch (const tools::UsageError&) {
  }
  return false;
}

}  // namespace heed::testing
