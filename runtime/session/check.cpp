// heed_open: the file, then every graph against the ops of this build, then the build itself.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_float.h"
//
#include "model/diagnostic.h"
#include "model/open.h"
#include "session/layout.h"

namespace heed {
namespace {

// Whether this build rounds a product before it adds to it, as all of heed's results presuppose.
bool products_are_rounded() {
  volatile float a = 1.0f + 0x1p-12f;
  volatile float minus_rounded_square = -(1.0f + 0x1p-11f);
  const float x = a;
  return x * x + minus_rounded_square == 0.0f;  // 2^-24 if the square was not rounded
}

}  // namespace
}  // namespace heed

extern "C" heed_status heed_open(const void* bytes, uint64_t size, uint32_t flags, heed_model* model,
                                 heed_diagnostic* diagnostic) {
  using namespace heed;
  Report report(diagnostic);
  if (model == nullptr) return report.done(refuse(report.get(), HEED_INVALID_ARGUMENT, "model"));
  *model = {};
  if (!products_are_rounded()) return report.done(refuse(report.get(), HEED_INEXACT_BUILD, "fused multiply-add"));
  heed_model opened{};
  if (heed_status s = open_file(bytes, size, flags, &opened, report.get())) return report.done(s);
  heed_limits limits;
  heed_default_limits(&opened, &limits);
  limits.max_rows = 1;  // shapes are what is asked about here; memory is heed_required_bytes' matter
  for (uint32_t i = 0; i < root(opened).graphs()->size(); ++i) {
    GraphRoom room;
    if (heed_status s = lay_out(opened, i, limits, {}, &room, report.get())) return report.done(s);
  }
  *model = opened;
  return report.done(HEED_OK);
}
