// In place of the converter, in programs that are built without it.
// SPDX-License-Identifier: Apache-2.0
#include "convert/convert.h"
#include "error.h"

namespace heed::tools {
namespace {

[[noreturn]] void refuse(const ConvertOptions& options) {
  throw Error(options.source.string() + ": this heed has no converter, as it was built for another processor; "
              "run `heed convert` on the machine that built it and copy the model file");
}

}  // namespace

ConvertReport convert(const ConvertOptions& options) { refuse(options); }

ConvertReport convert_into(const ConvertOptions& options, AtomicFile&) { refuse(options); }

}  // namespace heed::tools
