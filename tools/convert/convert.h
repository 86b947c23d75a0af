// The converter: a checkpoint in, one verified model file out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "files.h"

namespace heed::tools {

struct ConvertOptions {
  std::filesystem::path source;
  std::filesystem::path output;
  std::string weights;               // q8c, q8g32, q4g32, f16, f32 or keep; empty: what the source asks for, else q8c
  std::filesystem::path calibrate;   // a file of texts, one a line; empty: none
  std::string target = "any";        // any or mcu
  std::optional<uint32_t> max_rows;  // of one sequence
  std::optional<uint32_t> max_context;
  std::string task;              // of config.json's "task_specific_params", whose search and prefix are taken; empty: none
  std::filesystem::path report;  // also written here as JSON; empty: not
};

// What became of one weight.
struct LayerReport {
  std::string name;
  std::string format;
  uint32_t rows = 0;
  uint32_t cols = 0;
  uint64_t bytes = 0;  // all its pieces, with padding
  double sqnr_db = 0;  // infinite: stored without loss
};

struct ConvertReport {
  std::string source_kind;
  std::string family;
  uint64_t file_bytes = 0;
  uint64_t table_bytes = 0;  // graph, tokenizer and metadata
  uint64_t weight_bytes = 0;
  uint64_t parameters = 0;
  uint64_t arena_bytes = 0;  // for default limits
  uint32_t arena_rows = 0;   // the rows these limits hold
  uint32_t calibration_texts = 0;
  std::vector<LayerReport> layers;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
};

// Converts `options.source` to `options.output`. The file gets its name only after it was opened again, checked to the
// last byte and planned; on any failure there is no file, or the old one. Throws Error, or UsageError for options
// that contradict each other.
ConvertReport convert(const ConvertOptions& options);
// The same into `file`, which may then be read from its temporary path; it is the caller's to commit.
ConvertReport convert_into(const ConvertOptions& options, AtomicFile& file);

std::string report_text(const ConvertReport& report);  // for people
std::string report_json(const ConvertReport& report);

}  // namespace heed::tools
