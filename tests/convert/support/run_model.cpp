// open, plan, run.
// SPDX-License-Identifier: Apache-2.0
#include "convert/support/run_model.h"

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "files.h"
#include "heed/heed.h"

namespace heed::test {
namespace {

void check(heed_status status) {
  if (status != HEED_OK) throw std::runtime_error(heed_status_text(status));
}

}  // namespace

ModelOutput run_model(const std::filesystem::path& file, const std::vector<ModelInput>& inputs) {
  const tools::MappedFile bytes(file);
  heed_model model;
  check(heed_open(bytes.data(), bytes.size(), HEED_OPEN_CHECK_WEIGHTS, &model, nullptr));
  heed_limits limits;
  heed_default_limits(&model, &limits);
  heed_memory memory;
  check(heed_required_bytes(&model, &limits, &memory, nullptr));
  const std::unique_ptr<void, decltype(&std::free)> arena(std::aligned_alloc(HEED_ALIGNMENT, memory.total_bytes),
                                                          std::free);
  heed_platform platform{};
  platform.isa = std::getenv("HEED_ISA");  // null: the best
  heed_session session;
  check(heed_plan(&model, &limits, arena.get(), memory.total_bytes, &platform, &session, nullptr));
  std::vector<heed_input> list;
  for (const ModelInput& input : inputs) {
    const bool ids = !input.ids.empty();
    const void* data = ids ? static_cast<const void*>(input.ids.data()) : input.values.data();
    list.push_back({input.name.c_str(), data, ids ? static_cast<uint32_t>(input.ids.size()) : input.rows, nullptr});
  }
  heed_pass pass{};
  pass.size = sizeof pass;
  pass.inputs = list.data();
  pass.inputs_count = static_cast<uint32_t>(list.size());
  check(heed_run(&session, &pass, nullptr));
  heed_output output;
  check(heed_get_output(&session, 0, &output));
  ModelOutput result{output.name, output.rows, output.features, {}};
  for (uint32_t r = 0; r < output.rows; ++r) {
    result.values.insert(result.values.end(), output.data + uint64_t{r} * output.stride,
                         output.data + uint64_t{r} * output.stride + output.features);
  }
  return result;
}

}  // namespace heed::test
