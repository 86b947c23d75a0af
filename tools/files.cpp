// Mapped reading and atomic writing with POSIX and Linux calls.
// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "error.h"

namespace heed::tools {
namespace {

constexpr uint64_t kMaxWriteBytes = uint64_t{1} << 30;  // Linux writes at most 2 GiB at once

constexpr uint32_t kMostAttempts = 1000;

std::filesystem::path temporary_name(const std::filesystem::path& path, uint32_t attempt) {
  std::filesystem::path name = path;
  return name += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
}

[[noreturn]] void fail(const std::filesystem::path& path, const char* doing) {
  const std::string reason = std::strerror(errno);
  throw Error(path.string() + ": cannot " + doing + ": " + reason);
}

}  // namespace

std::filesystem::path resolved(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  std::filesystem::path result = std::filesystem::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : result;
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return resolved(a) == resolved(b) || (std::filesystem::equivalent(a, b, error) && !error);
}

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

std::filesystem::path temporary_file(const std::string& name) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) throw Error("no folder for temporary files: " + error.message() + "; set TMPDIR to one");
  return folder / name;
}

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for its writer
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
  if (!open_unnamed()) open_named();
}

bool AtomicFile::open_unnamed() {
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return false;
  temporary_ = "/proc/self/fd/" + std::to_string(descriptor_);
  if (::access(temporary_.c_str(), R_OK) == 0) return true;
  ::close(std::exchange(descriptor_, -1));
  return false;
}

void AtomicFile::open_named() {
  // Two writers of one output, in one process or in several, each have a temporary file of their own.
  for (uint32_t attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = temporary_name(path_, attempt);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && (errno != EEXIST || attempt == kMostAttempts)) fail(path_, "write");
  }
  named_ = true;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (named_) ::unlink(temporary_.c_str());
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

// A link cannot take the place of a file, so there it needs a name of its own for a moment.
void AtomicFile::name_it() {
  std::filesystem::path name = path_;
  for (uint32_t attempt = 0; ::linkat(AT_FDCWD, temporary_.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0; ++attempt) {
    if (errno != EEXIST || attempt == kMostAttempts) fail(path_, "write");
    name = temporary_name(path_, attempt);
  }
  temporary_ = name;
  named_ = name != path_;
}

void AtomicFile::commit() {
  flush();
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);  // a signal between the link and its renaming would leave the link
  try {
    if (!named_) name_it();
    if (named_ && ::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "rename to");
    named_ = false;
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace heed::tools
