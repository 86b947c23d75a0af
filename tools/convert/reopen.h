// Opens a file that the converter wrote as a device would, before it gets its name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "convert/convert.h"
#include "convert/spec.h"
#include "files.h"
#include "heed/heed.h"

namespace heed::tools {

// Opens the written file, checks all its weights and plans it with its default limits; fills in the report's sizes.
// Throws Error naming the source, the node or weight if the runtime refuses it.
void reopen(AtomicFile& file, const Spec& spec, ConvertReport& report);

// What a status and its diagnostic say about `model`, in words.
std::string refusal_text(heed_status status, const heed_diagnostic& diagnostic, const schema::ModelT& model);

// "at most 24", "at least 1" or "expected 16": what the number `diagnostic.expected` is.
std::string wanted_text(heed_status status, const heed_diagnostic& diagnostic);

}  // namespace heed::tools
