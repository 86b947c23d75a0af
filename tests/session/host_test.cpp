// The host platform's threads: every task once, asleep when idle, and no collapse when there are too many of them.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "heed/heed.hpp"
#include "heed_host.h"
#include "support/encoder.h"
#include "support/test_session.h"

namespace heed::testing {
namespace {

struct Counts {
  explicit Counts(uint32_t n, uint32_t workers) : done(n), busy(workers) {}
  std::vector<std::atomic<uint32_t>> done;
  std::vector<std::atomic<uint32_t>> busy;
  std::atomic<bool> shared_worker{false};
};

void count_task(void* data, uint32_t task, uint32_t worker) {
  Counts& counts = *static_cast<Counts*>(data);
  if (counts.busy[worker].exchange(1) != 0) counts.shared_worker = true;
  counts.done[task].fetch_add(1);
  counts.busy[worker].store(0);
}

double processor_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

TEST_CASE("Each task of a job is run once, and no two at a time with one worker number") {
  for (uint32_t threads : {0u, 1u, 2u, 3u, 8u}) {
    host::ThreadPool pool(threads);
    const heed_platform platform = pool.platform();
    for (uint32_t n : {0u, 1u, 2u, 3u, 7u, 64u}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        Counts counts(n, threads == 0 ? 1 : threads);
        platform.run(platform.context, n, count_task, &counts);
        for (const auto& done : counts.done) REQUIRE(done == 1);
        REQUIRE_FALSE(counts.shared_worker);
      }
    }
  }
}

TEST_CASE("A slow worker holds up nobody: the others take what it does not get to") {
  struct Job {
    std::atomic<uint32_t> done{0};
    std::atomic<bool> waited_for_nothing{false};
  } job;
  constexpr uint32_t kTasks = 64;
  host::ThreadPool pool(2);
  const heed_platform platform = pool.platform();
  // Whoever gets the first task, like a small core, is busy with it until all others are done.
  platform.run(platform.context, kTasks, [](void* data, uint32_t task, uint32_t) {
    Job& all = *static_cast<Job*>(data);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (task == 0 && all.done != kTasks - 1) {
      if (std::chrono::steady_clock::now() > patience) {
        all.waited_for_nothing = true;
        break;
      }
      std::this_thread::yield();
    }
    all.done.fetch_add(1);
  }, &job);
  CHECK(job.done == kTasks);
  CHECK_FALSE(job.waited_for_nothing);
}

TEST_CASE("API-09: 64 threads on this machine and two sessions at once finish, with the same bits") {
  const AlignedBytes file = encoder().finish();
  const std::vector<int32_t> ids = some_ids(96, 50, 1);
  TestSession plain(file);
  const Output expected = plain.run({ids_input("tokens", ids)});
  std::vector<Output> outputs(2);
  host::ThreadPool pool(64);
  const auto work = [&](size_t index, TestSession& session) {
    session.platform = pool.platform();
    for (int i = 0; i < 20; ++i) outputs[index] = session.run_in_thread({ids_input("tokens", ids)});
  };
  TestSession first(file, {.workers = 64, .tile_rows = 8});
  TestSession second(file, {.workers = 64, .tile_rows = 8});
  const auto start = std::chrono::steady_clock::now();
  std::thread other([&] { work(1, second); });
  work(0, first);
  other.join();
  CHECK(outputs[0] == expected);
  CHECK(outputs[1] == expected);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));  // starved spinning took minutes
}

TEST_CASE("API-11: idle workers use no processor time") {
  const AlignedBytes file = encoder().finish();
  const std::vector<int32_t> ids = some_ids(96, 50, 1);
  TestSession session(file, {.workers = 4, .tile_rows = 8});
  session.run({ids_input("tokens", ids)});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // spinning ends
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  CHECK(processor_seconds() - before < 0.01);
}

TEST_CASE("API-02: many threads opening and planning at the same instant get the same results") {
  const AlignedBytes file = encoder().finish();
  const std::vector<int32_t> ids = some_ids(20, 50, 1);
  const Output expected = TestSession(file).run({ids_input("tokens", ids)});
  std::atomic<int> waiting{16};
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      waiting.fetch_sub(1);
      while (waiting.load() > 0) std::this_thread::yield();
      heed_model model;
      heed_limits limits;
      heed_memory memory;
      heed_session session;
      if (heed_open(file.data(), file.size(), 0, &model, nullptr) != HEED_OK) return;
      heed_default_limits(&model, &limits);
      if (heed_required_bytes(&model, &limits, &memory, nullptr) != HEED_OK) return;
      AlignedBytes arena(memory.total_bytes);
      if (heed_plan(&model, &limits, arena.data(), arena.size(), nullptr, &session, nullptr) != HEED_OK) return;
      const heed_input input = ids_input("tokens", ids);
      heed_pass pass{};
      pass.size = sizeof pass;
      pass.inputs_count = 1;
      pass.inputs = &input;
      heed_output output;
      if (heed_run(&session, &pass, nullptr) != HEED_OK || heed_get_output(&session, 0, &output) != HEED_OK) return;
      right += std::memcmp(output.data, expected.values.data(), output.features * sizeof(float)) == 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 16);
}

TEST_CASE("API-07: the header says what may run at the same time, and sessions of one model do") {
  std::ifstream header(std::string(HEED_SOURCE_DIR) + "/runtime/include/heed/heed.h");
  const std::string text(std::istreambuf_iterator<char>(header), {});
  CHECK(text.find("Threads: a heed_model is immutable after heed_open and may be shared by any number of sessions. A heed_session") != std::string::npos);
  CHECK(text.find("is used by one thread at a time") != std::string::npos);
  const AlignedBytes file = encoder().finish();
  std::vector<std::unique_ptr<TestSession>> sessions;
  std::vector<Output> alone, together(8);
  for (size_t i = 0; i < together.size(); ++i) {
    sessions.push_back(std::make_unique<TestSession>(file));
    sessions[i]->session.model = &sessions[0]->model;
    alone.push_back(sessions[i]->run({ids_input("tokens", some_ids(20, 50, static_cast<uint32_t>(i)))}));
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < together.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::vector<int32_t> ids = some_ids(20, 50, static_cast<uint32_t>(i));
      for (int turn = 0; turn < 20; ++turn) together[i] = sessions[i]->run_in_thread({ids_input("tokens", ids)});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < together.size(); ++i) CHECK(together[i] == alone[i]);
}

TEST_CASE("API-06: ten sessions share one f16 model's weights, and each costs its arena only") {
  ModelBuilder builder;
  const uint16_t x = builder.floats("x", 256, 4);
  schema::NodeT linear;
  linear.weight = builder.matrix(random_plain(512, 256, 1), schema::Format::f16);
  builder.output("y", builder.node(schema::OpKind::Linear, {x}, linear));
  AlignedBytes file = builder.finish();
  std::vector<std::unique_ptr<TestSession>> sessions;
  const Plain input = random_plain(4, 256, 2);
  std::vector<Output> outputs;
  for (int i = 0; i < 10; ++i) {
    sessions.push_back(std::make_unique<TestSession>(file, Options{.rows = 4}));
    outputs.push_back(sessions.back()->run({floats_input("x", input)}));
    CHECK(outputs.back() == outputs.front());
    CHECK(sessions.back()->memory.total_bytes < 512 * 256 * 2 / 10);
  }
  // The weights are read where the file lies: without them, every session's results change.
  std::fill(file.begin() + static_cast<long>(file.size() - builder.region.size()), file.end(), uint8_t{0});
  for (auto& session : sessions) {
    for (float value : session->run({floats_input("x", input)}).values) REQUIRE(value == 0.0f);
  }
}

TEST_CASE("HEED_ISA chooses the instruction set of the host platform") {
  host::ThreadPool pool(1);
  const char* before = std::getenv("HEED_ISA");
  const std::string saved = before ? before : "";
  setenv("HEED_ISA", "ref", 1);
  CHECK(std::string(pool.platform().isa) == "ref");
  unsetenv("HEED_ISA");
  CHECK(pool.platform().isa == nullptr);
  if (before) setenv("HEED_ISA", saved.c_str(), 1);
}

TEST_CASE("The host's clock runs") {
  host::ThreadPool pool(1);
  const heed_platform platform = pool.platform();
  const uint64_t first = platform.ticks(platform.context);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(platform.ticks(platform.context) - first >= 2000000);
}

}  // namespace heed::testing
