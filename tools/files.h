// Files as the tools use them: read by mapping, written without a name and given it when they are whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace heed::tools {

// Where a path leads: absolute, its links followed, whether or not there is a file yet.
std::filesystem::path resolved(const std::filesystem::path& path);
// Whether two paths lead to one file, however they are spelled and whether or not it is there yet.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);
// Whether a resolved path is a resolved folder, or lies in it.
bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder);
// A path for a temporary AtomicFile, in TMPDIR or where the system has such files. Throws Error if there is no folder.
std::filesystem::path temporary_file(const std::string& name);

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
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), static_cast<size_t>(size_)}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

// A file that appears under its name only when `commit` succeeds; otherwise nothing is left behind, also when the
// program is killed, where the file system has files without a name. Every failure (no space, no permission, a folder
// that is not there) throws Error with the path and the system's reason.
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
  // Flushes; the file may then be read back from its temporary path before `commit`.
  void flush();
  void commit();

 private:
  bool open_unnamed();
  void open_named();
  void name_it();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // of a file without a name, where /proc shows it
  bool named_ = false;
  int descriptor_ = -1;
  uint64_t position_ = 0;
};

}  // namespace heed::tools
