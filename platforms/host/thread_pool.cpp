// The pool behind heed_host.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "heed_host.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

constexpr uint32_t kSpins = 4000;  // some 50 to 150 microseconds

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// All that condition_variable::wait does. Since GCC 12 that function has a version (GLIBCXX_3.4.30) which the libraries of
// older systems lack, so that a shared object made here would not load there.
void sleep_until_notified(std::condition_variable& woken, std::unique_lock<std::mutex>& lock) {
#if defined(__GLIBCXX__)
  pthread_cond_wait(woken.native_handle(), lock.mutex()->native_handle());
#else
  woken.wait(lock);
#endif
}

// Where one thread waits for a condition that others make true: it spins a little, then sleeps. Whoever makes it true calls
// `wake` afterwards. Both sides use sequentially consistent atomics: either the waker sees the sleeper, or the sleeper
// sees the condition. Never two threads at a time: several on one condition variable may be left asleep for ever, and
// with them whoever wakes them next, by glibc's before 2.41 (its bug 25847).
class Waiter {
 public:
  template <class Condition>
  void wait(uint32_t spins, const Condition& condition) {
    for (uint32_t i = 0; i < spins; ++i) {
      if (condition()) return;
      pause_briefly();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    for (asleep_.store(1); !condition(); asleep_.store(1)) sleep_until_notified(woken_, lock);
    asleep_.store(0);
  }

  // Whether there was somebody to wake.
  bool wake() {
    if (asleep_.exchange(0) == 0) return false;
    { const std::lock_guard<std::mutex> lock(mutex_); }
    woken_.notify_one();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable woken_;
  std::atomic<uint32_t> asleep_{0};  // a byte's exchange is a library's on RISC-V
};

}  // namespace

struct heed_host {
  explicit heed_host(uint32_t threads)
      : spins_(threads > std::max(1u, std::thread::hardware_concurrency()) ? 0 : kSpins), idle_(threads) {
    threads_.reserve(threads);
    for (uint32_t worker = 1; worker < threads; ++worker) {
      try {
        threads_.emplace_back([this, worker] { work(worker); });
      } catch (const std::system_error&) {
        return;  // the system has no more: those that run do the work
      }
    }
  }

  ~heed_host() {
    stop_.store(true);
    wake_workers(UINT32_MAX);
    for (std::thread& thread : threads_) thread.join();
  }

  void run(uint32_t n, heed_task task, void* job) {
    if (n < 2 || threads_.empty() || in_use_.test_and_set(std::memory_order_acquire)) {
      for (uint32_t i = 0; i < n; ++i) task(job, i, 0);
      return;
    }
    n_ = n;
    task_ = task;
    job_ = job;
    pending_.store(n);
    const uint64_t generation = (tickets_.load() >> 32) + 1;
    tickets_.store(generation << 32 | n);
    wake_workers(n - 1);
    take_tasks(0);
    done_.wait(spins_, [this] { return pending_.load() == 0; });
    in_use_.clear(std::memory_order_release);
  }

 private:
  void wake_workers(uint32_t most) {
    for (size_t worker = 1; worker <= threads_.size() && most > 0; ++worker) most -= idle_[worker].wake();
  }

  // A ticket is a generation and the number of tasks nobody has taken yet. Taking one by compare-and-swap makes sure
  // that the job is the one of this generation, and it stays until its last task is done.
  void take_tasks(uint32_t worker) {
    for (uint64_t ticket = tickets_.load(); static_cast<uint32_t>(ticket) != 0;) {
      if (!tickets_.compare_exchange_weak(ticket, ticket - 1)) continue;
      task_(job_, n_ - static_cast<uint32_t>(ticket), worker);
      if (pending_.fetch_sub(1) == 1) done_.wake();
      ticket = tickets_.load();
    }
  }

  void work(uint32_t worker) {
    while (!stop_.load()) {
      take_tasks(worker);
      idle_[worker].wait(spins_, [this] { return stop_.load() || static_cast<uint32_t>(tickets_.load()) != 0; });
    }
  }

  const uint32_t spins_;
  std::vector<std::thread> threads_;
  std::atomic_flag in_use_ = ATOMIC_FLAG_INIT;  // pthread_mutex_trylock, too, has a version of its own in newer systems
  uint32_t n_ = 0;
  heed_task task_ = nullptr;
  void* job_ = nullptr;
  std::atomic<uint64_t> tickets_{0};
  std::atomic<uint32_t> pending_{0};
  std::atomic<bool> stop_{false};
  std::vector<Waiter> idle_;  // one for each worker
  Waiter done_;
};

namespace {

void trap(void*, const char* message) {
  std::fprintf(stderr, "heed: %s\n", message);
  std::abort();
}

void log_line(void*, const char* line) { std::fprintf(stderr, "heed: %s\n", line); }

uint64_t ticks(void*) {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

void run(void* host, uint32_t n, heed_task task, void* job) { static_cast<heed_host*>(host)->run(n, task, job); }

}  // namespace

// A refusal only means that AMX is not used.
extern "C" void heed_host_prepare(void) {
#if defined(__linux__) && defined(__x86_64__)
  constexpr int kRequestPermission = 0x1023;
  constexpr int kTileData = 18;
  syscall(SYS_arch_prctl, kRequestPermission, kTileData);
#endif
}

extern "C" heed_host* heed_host_create(uint32_t threads) {
  heed_host_prepare();
  try {
    return new heed_host(std::max(threads, 1u));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

extern "C" void heed_host_destroy(heed_host* host) { delete host; }

extern "C" heed_platform heed_host_platform(heed_host* host) {
  const char* isa = std::getenv("HEED_ISA");
  return {isa != nullptr && isa[0] != '\0' ? isa : nullptr, host, trap, log_line, ticks, run};
}
