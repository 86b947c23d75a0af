/* A QEMU plugin that counts what a program executes, by function, and what a simple cache would fetch from memory.
 * Of tests only: it is loaded into a GPL program, whose version 2 or later may be chosen for this file.
 *
 *     cc -O2 -fPIC -shared -fvisibility=hidden tests/device/counter.c -o counter.so
 *     qemu-aarch64 -cpu cortex-a76 -plugin ./counter.so,out=counts.txt[,cache=on,l1=32768,l2=524288] ./program
 *
 * counts.txt: a line "instructions fetched written function" for each function, most instructions first, after a line
 * of their sums called "total". `fetched` and `written` are bytes between the second cache and memory, 0 without
 * cache=on. Caches are of data alone, of 64-byte lines, 4 and 8 ways, least recently used first out, write-back; they
 * prefetch nothing. One thread only. Link programs statically: functions of shared libraries have no names ("?").
 *
 * The declarations are those of version 1 of QEMU's plugin interface (QEMU 6.0 to 8.1).
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { kAddU64 = 0, kNoRegisters = 0, kLoadsAndStores = 3 };
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct {
  const char* target;
  struct { int min, current; } version;
  bool is_system;
  struct { int cpus, most_cpus; } system;
} qemu_info_t;
typedef void (*on_block)(uint64_t id, struct qemu_plugin_tb*);
typedef void (*on_memory)(unsigned cpu, uint32_t info, uint64_t address, void* data);
typedef void (*on_exit_)(uint64_t id, void* data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, on_block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, int operation, void* counter, uint64_t value);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn*, on_memory, int flags, int accesses, void* data);
void qemu_plugin_register_atexit_cb(uint64_t id, on_exit_, void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn*);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);
EXPORT int qemu_plugin_version = 1;

/* ---- functions ---- */
enum { kBuckets = 4096, kLineShift = 6 };
struct function {
  char* name;
  uint64_t instructions, fetched, written;
  struct function* next;
};
static struct function* functions[kBuckets];
static size_t function_count;
static const char* out_path;

static void* zeros(size_t count, size_t bytes) {
  void* block = calloc(count, bytes);
  if (!block) abort();
  return block;
}

static struct function* function_named(const char* name) {
  unsigned hash = 5381;
  for (const char* c = name; *c; ++c) hash = hash * 33 + (unsigned char)*c;
  struct function** bucket = &functions[hash % kBuckets];
  for (struct function* one = *bucket; one; one = one->next) {
    if (!strcmp(one->name, name)) return one;
  }
  struct function* added = zeros(1, sizeof *added);
  added->name = strdup(name);
  added->next = *bucket;
  ++function_count;
  return *bucket = added;
}

/* ---- caches ---- */
struct line {
  uint64_t tag; /* address >> kLineShift, plus 1: 0 is an empty line */
  uint64_t used;
  bool dirty;
};
struct cache {
  size_t bytes, ways, sets;
  struct line* lines; /* [sets, ways] */
};
static struct cache l1 = {32768, 4, 0, NULL}, l2 = {524288, 8, 0, NULL};
static bool with_cache;
static uint64_t now;

static bool open_cache(struct cache* cache) {
  cache->sets = (cache->bytes >> kLineShift) / cache->ways;
  if (cache->sets == 0 || (cache->sets & (cache->sets - 1))) return false;
  cache->lines = zeros(cache->sets * cache->ways, sizeof *cache->lines);
  return true;
}

/* The line of `tag`, or the one to put it in: whether it was there is in its tag. */
static struct line* find(struct cache* cache, uint64_t tag) {
  struct line* set = cache->lines + (tag & (cache->sets - 1)) * cache->ways;
  struct line* oldest = set;
  for (size_t way = 0; way < cache->ways; ++way) {
    if (set[way].tag == tag) return &set[way];
    if (set[way].used < oldest->used) oldest = &set[way];
  }
  return oldest;
}

static void touch_l2(uint64_t tag, bool store, struct function* by) {
  struct line* line = find(&l2, tag);
  if (line->tag != tag) {
    if (line->dirty) by->written += 1u << kLineShift;
    /* What a store fills wholly need not be fetched, but a core rarely knows: it counts as fetched. */
    by->fetched += 1u << kLineShift;
    line->tag = tag;
    line->dirty = false;
  }
  line->dirty |= store;
  line->used = ++now;
}

static void touch_l1(uint64_t tag, bool store, struct function* by) {
  static struct line none, *newest = &none; /* most accesses go to the line of the one before */
  if (newest->tag == tag) {
    newest->dirty |= store;
    return;
  }
  struct line* line = newest = find(&l1, tag);
  if (line->tag != tag) {
    if (line->dirty) touch_l2(line->tag, true, by);
    touch_l2(tag, false, by);
    line->tag = tag;
    line->dirty = false;
  }
  line->dirty |= store;
  line->used = ++now;
}

static void memory(unsigned cpu, uint32_t info, uint64_t address, void* data) {
  (void)cpu;
  const uint64_t last = address + (UINT64_C(1) << qemu_plugin_mem_size_shift(info)) - 1;
  const bool store = qemu_plugin_mem_is_store(info);
  for (uint64_t tag = (address >> kLineShift) + 1; tag <= (last >> kLineShift) + 1; ++tag) touch_l1(tag, store, data);
}

/* ---- blocks of instructions, which run to their end ---- */
static void translate(uint64_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t n = qemu_plugin_tb_n_insns(block);
  const char* symbol = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(block, 0));
  struct function* function = function_named(symbol && *symbol ? symbol : "?");
  qemu_plugin_register_vcpu_tb_exec_inline(block, kAddU64, &function->instructions, n);
  for (size_t i = 0; with_cache && i < n; ++i) {
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), memory, kNoRegisters, kLoadsAndStores, function);
  }
}

static int most_first(const void* a, const void* b) {
  const uint64_t x = (*(struct function* const*)a)->instructions, y = (*(struct function* const*)b)->instructions;
  return x < y ? 1 : x > y ? -1 : 0;
}

static void print_line(FILE* file, const struct function* one) {
  fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", one->instructions, one->fetched, one->written, one->name);
}

static void finish(uint64_t id, void* data) {
  (void)id, (void)data;
  struct function** sorted = zeros(function_count + 1, sizeof *sorted);
  struct function total = {"total", 0, 0, 0, NULL};
  size_t count = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (struct function* one = functions[bucket]; one; one = one->next) {
      sorted[count++] = one;
      total.instructions += one->instructions;
      total.fetched += one->fetched;
      total.written += one->written;
    }
  }
  qsort(sorted, count, sizeof *sorted, most_first);
  FILE* file = out_path ? fopen(out_path, "w") : stderr;
  if (!file) {
    perror(out_path);
    abort();
  }
  print_line(file, &total);
  for (size_t i = 0; i < count && sorted[i]->instructions; ++i) print_line(file, sorted[i]);
  fclose(file);
}

EXPORT int qemu_plugin_install(uint64_t id, const qemu_info_t* info, int count, char** arguments) {
  (void)info;
  for (int i = 0; i < count; ++i) {
    const char* value = strchr(arguments[i], '=');
    const size_t name = value ? (size_t)(value++ - arguments[i]) : 0;
    if (name == 3 && !strncmp(arguments[i], "out", 3)) {
      out_path = strdup(value);
    } else if (name == 5 && !strncmp(arguments[i], "cache", 5)) {
      with_cache = !strcmp(value, "on");
    } else if (name == 2 && !strncmp(arguments[i], "l1", 2)) {
      l1.bytes = strtoull(value, NULL, 10);
    } else if (name == 2 && !strncmp(arguments[i], "l2", 2)) {
      l2.bytes = strtoull(value, NULL, 10);
    } else {
      fprintf(stderr, "counter: unknown argument %s\n", arguments[i]);
      return 1;
    }
  }
  if (!open_cache(&l1) || !open_cache(&l2)) {
    fprintf(stderr, "counter: l1 and l2 are bytes, 256 and 512 times a power of two\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, finish, NULL);
  return 0;
}
