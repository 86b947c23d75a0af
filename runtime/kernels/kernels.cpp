// The kernel tables, one for each instruction set that was built, and the choice among them.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernels.h"

#include <cstring>

#include "heed/heed.h"
#include "kernels/probe.h"
#include "kernels/tables.h"

namespace heed {
namespace {

// One function for each line of isa_list.inc. Those that built_isas.inc does not name are never used, so that they
// need no kernels.
constexpr Kernels make_ref() {
  Kernels table = {};
  table.isa = "ref";
  table.tile_rows = 8;
  table.tile_panels = 3;
#define HEED_SPACE ref
#include "kernels/fill_table.inc"
  return table;
}

[[maybe_unused]] constexpr Kernels make_avx2() {
  Kernels table = make_ref();
  table.isa = "avx2";
  table.tile_rows = 4;
  table.tile_panels = 16;  // magnitudes of a call's rows serve all its panels
#define HEED_SPACE avx2
#include "kernels/fill_table.inc"
  return table;
}

[[maybe_unused]] constexpr Kernels make_avxvnni() {
  Kernels table = make_avx2();
  table.isa = "avxvnni";
  table.tile_rows = 8;
  table.tile_panels = 3;
  table.byte_flip = 0x80;
  table.multiply_i8 = avxvnni::multiply_i8;
  return table;
}

[[maybe_unused]] constexpr Kernels make_avx512vnni() {
  Kernels table = make_ref();
  table.isa = "avx512vnni";
  table.tile_rows = 16;
  table.byte_flip = 0x80;
#define HEED_SPACE avx512vnni
#include "kernels/fill_table.inc"
  return table;
}

[[maybe_unused]] constexpr Kernels make_amx() {
  Kernels table = make_avx512vnni();
  table.isa = "amx";
  table.tile_rows = 32;
  table.tile_panels = 2;
  table.enter = amx::enter;
  table.leave = amx::leave;
  table.multiply_i8 = amx::multiply_i8;
  return table;
}

[[maybe_unused]] constexpr Kernels make_neon() {
  Kernels table = make_ref();
  table.isa = "neon";
  table.tile_rows = 32;
  table.tile_panels = 2;
#define HEED_SPACE neon
#include "kernels/fill_table.inc"
  return table;
}

[[maybe_unused]] constexpr Kernels make_dotprod() {
  Kernels table = make_neon();
  table.isa = "dotprod";
  table.multiply_i8 = dotprod::multiply_i8;
  return table;
}

[[maybe_unused]] constexpr Kernels make_i8mm() {
  Kernels table = make_neon();
  table.isa = "i8mm";
  table.weaves_rows = true;
  table.multiply_i8 = i8mm::multiply_i8;
  return table;
}

[[maybe_unused]] constexpr Kernels make_armv7() {
  Kernels table = make_ref();
  table.isa = "armv7";
  table.tile_rows = 32;
  table.tile_panels = 2;
#define HEED_SPACE armv7
#include "kernels/fill_table.inc"
  return table;
}

struct Built {
  Kernels table;
  bool (*runs)(const CpuRegisters& registers);
};
constexpr Built kBuilt[] = {
#define HEED_ISA(name, family) {make_##name(), runs_##name},
#include "built_isas.inc"
#undef HEED_ISA
};
constexpr uint32_t kBuiltCount = sizeof(kBuilt) / sizeof(kBuilt[0]);

constexpr bool tiles_fit() {
  for (const Built& built : kBuilt) {
    if (built.table.tile_rows > 32 || built.table.tile_rows * 16 * built.table.tile_panels > kTileElems) return false;
  }
  return true;
}
static_assert(tiles_fit());

constexpr const char* kNames[kIsaCount] = {
#define HEED_ISA(name, family) #name,
#include "kernels/isa_list.inc"
#undef HEED_ISA
};

// Null if it was not built.
const Built* find_built(const char* name) {
  for (const Built& built : kBuilt) {
    if (std::strcmp(built.table.isa, name) == 0) return &built;
  }
  return nullptr;
}

}  // namespace

const Kernels* isa_table(uint32_t index) {
  const Built* built = index < kIsaCount ? find_built(kNames[index]) : nullptr;
  return built ? &built->table : nullptr;
}

const char* isa_name(uint32_t index) { return index < kIsaCount ? kNames[index] : nullptr; }

bool isa_runs(uint32_t index) {
  constexpr bool (*kRuns[kIsaCount])(const CpuRegisters&) = {
#define HEED_ISA(name, family) runs_##name,
#include "kernels/isa_list.inc"
#undef HEED_ISA
  };
  return index < kIsaCount && kRuns[index](read_cpu_registers());
}

const Kernels* find_kernels(const char* name) {
  const CpuRegisters registers = read_cpu_registers();
  for (const Built& built : kBuilt) {
    if ((!name || std::strcmp(name, built.table.isa) == 0) && built.runs(registers)) return &built.table;
  }
  return nullptr;
}

}  // namespace heed

const char* heed_session_isa(const heed_session* session) {
  return session && session->kernels ? static_cast<const heed::Kernels*>(session->kernels)->isa : nullptr;
}

const char* heed_isa_at(uint32_t index, int32_t* runs) {
  using namespace heed;
  if (runs) *runs = index < kBuiltCount && kBuilt[index].runs(read_cpu_registers());
  return index < kBuiltCount ? kBuilt[index].table.isa : nullptr;
}
