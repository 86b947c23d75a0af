// Memory that ends at an unreadable page and begins after one: an access outside stops the test, even from assembly
// that sanitizers do not see. With HEED_READABLE_GUARDS in the environment the page at the end can be read: QEMU 7.2 reads the whole
// register of a masked load.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

namespace heed::tests {

template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    size_ = bytes + 2 * page;
    base_ = static_cast<uint8_t*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    // An emulator may refuse to protect no bytes at all.
    if (base_ == MAP_FAILED || (bytes != 0 && mprotect(base_ + page, bytes, PROT_READ | PROT_WRITE) != 0)) {
      throw std::runtime_error("no memory for a guarded block");
    }
    static const bool readable = std::getenv("HEED_READABLE_GUARDS") != nullptr;
    if (readable) mprotect(base_ + page + bytes, page, PROT_READ);
    data_ = reinterpret_cast<T*>(base_ + page + bytes - count * sizeof(T));
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(base_, size_); }

  T* get() const { return data_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  uint8_t* base_;
  size_t size_;
  T* data_;
};

}  // namespace heed::tests
