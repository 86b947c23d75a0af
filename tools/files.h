// Files as the tools use them: read by mapping, written under a temporary name and renamed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace heed::tools {

// A whole file, mapped read-only. Page-aligned, so also aligned for heed_open.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);  // throws Error
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;

  const uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

// A file that appears under its name only when `commit` succeeds; otherwise nothing is left behind. Every failure
// (no space, no permission, a folder that is not there) throws Error with the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, uint64_t count);
  // Zeros up to a multiple of `alignment` from the start of the file.
  void pad(uint64_t alignment);
  uint64_t position() const { return position_; }
  const std::filesystem::path& temporary_path() const { return temporary_; }
  // Flushes; the temporary file may then be read back before `commit`.
  void flush();
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  uint64_t position_ = 0;
};

}  // namespace heed::tools
