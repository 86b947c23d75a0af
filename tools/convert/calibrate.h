// Learns from sample texts which channels of each layer's input are large, and moves that range into the weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <vector>

#include "convert/convert.h"
#include "convert/spec.h"

namespace heed::tools {

// Weight id -> what multiplies each column of its input.
using InputScales = std::map<int32_t, std::vector<float>>;

// Runs the float model over the texts (one a line) and, of an encoder-decoder, over what the draft writes for them; returns scales for
// every int8 matrix. Scale of column c:
// sqrt(largest |weight| of c / root mean square of the inputs of c), shared by the matrices that read the same input. `draft` is the
// model's file as it is without scales: its tokenizer reads the texts, and the runtime has found its graph sound.
InputScales calibrate(const Spec& spec, const std::filesystem::path& draft, const std::filesystem::path& texts,
                      ConvertReport& report);

}  // namespace heed::tools
