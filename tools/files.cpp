// Mapped reading and atomic writing with POSIX calls.
// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "error.h"

namespace heed::tools {
namespace {

constexpr uint64_t kMaxWriteBytes = uint64_t{1} << 30;  // Linux writes at most 2 GiB at once

[[noreturn]] void fail(const std::filesystem::path& path, const char* doing) {
  const std::string reason = std::strerror(errno);
  throw Error(path.string() + ": cannot " + doing + ": " + reason);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, "open");
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) {
    ::close(descriptor);
    fail(path, "read");
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(descriptor);
    throw Error(path.string() + ": is not a file");
  }
  size_ = static_cast<uint64_t>(info.st_size);
  if (size_ > 0) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) {
      ::close(descriptor);
      fail(path, "map");
    }
    data_ = static_cast<const uint8_t*>(mapped);
  }
  ::close(descriptor);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) path_ = std::filesystem::weakly_canonical(path, ignored);
  if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored)) {
    throw Error(path.string() + ": cannot write: exists and is not a file; name another output");
  }
  // Two writers of one output, in one process or in several, each have a temporary file of their own.
  for (uint32_t attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = path_;
    temporary_ += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && (errno != EEXIST || attempt == 1000)) {
      temporary_.clear();
      fail(path_, "write");
    }
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, uint64_t count) {
  const char* at = static_cast<const char*>(bytes);
  position_ += count;
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, at, std::min<uint64_t>(count, kMaxWriteBytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "write");
    at += written;
    count -= static_cast<uint64_t>(written);
  }
}

void AtomicFile::pad(uint64_t alignment) {
  const std::vector<char> zeros((alignment - position_ % alignment) % alignment, 0);
  write(zeros.data(), zeros.size());
}

void AtomicFile::flush() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(path_, "write");
}

void AtomicFile::commit() {
  flush();
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail(path_, "write");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "rename to");
  temporary_.clear();
}

}  // namespace heed::tools
