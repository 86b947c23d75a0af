/* A heed_platform for programs on an operating system: a small pool of threads, a clock, a log on standard error.
 *
 *     heed_host* host = heed_host_create(2);
 *     heed_platform platform = heed_host_platform(host);
 *     limits.workers = 2;
 *     heed_plan(&model, &limits, arena, bytes, &platform, &session, NULL);
 *     ...
 *     heed_host_destroy(host);
 *
 * Threads that wait for work spin for a moment, so that the phases of a run follow each other closely, and then
 * sleep: between runs they take no processor time. Where there are more threads than processors they sleep at once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEED_HOST_H
#define HEED_HOST_H

#include "heed/heed.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct heed_host heed_host;

/* Asks the system for the registers that a process has to ask for (AMX on Linux), so that their instruction set can be
 * chosen. heed_host_create does it; a program that plans without a pool may call it first. Any number of times. */
void heed_host_prepare(void);

/* A pool of `threads` workers, the calling thread being one of them; 0 counts as 1. limits.workers has to be at
 * least as large. If the system gives fewer threads, those do the work. NULL: out of memory. */
heed_host* heed_host_create(uint32_t threads);

/* Not while a session that uses it runs. Accepts NULL. */
void heed_host_destroy(heed_host* host);

/* The platform to plan with. It is good as long as the pool; sessions may share it, also from several threads: then
 * one has the pool and the others work alone until it is free. platform.isa comes from the environment variable
 * HEED_ISA, if it is set; the caller may overwrite it. */
heed_platform heed_host_platform(heed_host* host);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}

#include <utility>

namespace heed::host {

/* Owns a heed_host. Without memory for one, its platform runs everything on the calling thread. */
class ThreadPool {
 public:
  explicit ThreadPool(uint32_t threads) : host_(heed_host_create(threads)) {}
  ~ThreadPool() { heed_host_destroy(host_); }
  ThreadPool(ThreadPool&& other) noexcept : host_(std::exchange(other.host_, nullptr)) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ThreadPool& operator=(ThreadPool&&) = delete;

  heed_platform platform() const { return host_ ? heed_host_platform(host_) : heed_platform{}; }

 private:
  heed_host* host_;
};

}  // namespace heed::host
#endif
#endif
