// A conversion's report, for people and as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "convert/convert.h"
#include "convert/json.h"

namespace heed::tools {
namespace {

std::string decibels_text(double sqnr_db) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f dB", sqnr_db);
  return std::isfinite(sqnr_db) ? text : "exact";
}

std::string bytes_text(uint64_t bytes) {
  char text[48];
  if (bytes < 1024) {
    std::snprintf(text, sizeof text, "%llu bytes", static_cast<unsigned long long>(bytes));
  } else if (bytes < 1024 * 1024) {
    std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
  } else {
    std::snprintf(text, sizeof text, "%.2f MiB", static_cast<double>(bytes) / (1024 * 1024));
  }
  return text;
}

}  // namespace

std::string report_text(const ConvertReport& report) {
  std::string text;
  size_t width = 0;
  for (const LayerReport& layer : report.layers) width = std::max(width, layer.name.size());
  for (const LayerReport& layer : report.layers) {
    if (layer.rows == 1) continue;  // norms: many, small and exact
    char line[96];
    std::snprintf(line, sizeof line, "  %8u x %-6u %-5s %12s %10s\n", layer.rows, layer.cols, layer.format.c_str(),
                  bytes_text(layer.bytes).c_str(), decibels_text(layer.sqnr_db).c_str());
    text += layer.name + std::string(width - layer.name.size(), ' ') + line;
  }
  text += "family:  " + report.family + ", from " + report.source_kind + "\n";
  text += "file:    " + bytes_text(report.file_bytes) + " (weights " + bytes_text(report.weight_bytes) + ", tables " +
          bytes_text(report.table_bytes) + "), " + std::to_string(report.parameters) + " parameters\n";
  text += "arena:   " + std::to_string(report.arena_bytes) + " bytes (" + bytes_text(report.arena_bytes) + ") for " +
          std::to_string(report.arena_rows) + " rows\n";
  if (report.calibration_texts) text += "calibrated on " + std::to_string(report.calibration_texts) + " texts\n";
  for (const std::string& note : report.notes) text += "note:    " + note + "\n";
  for (const std::string& warning : report.warnings) text += "warning: " + warning + "\n";
  return text;
}

std::string report_json(const ConvertReport& report) {
  Json layers = Json::array();
  for (const LayerReport& layer : report.layers) {
    Json one = {{"name", layer.name},
                {"format", layer.format},
                {"rows", layer.rows},
                {"cols", layer.cols},
                {"bytes", layer.bytes}};
    one["sqnr_db"] = std::isfinite(layer.sqnr_db) ? Json(layer.sqnr_db) : Json(nullptr);  // null: exact
    layers.push_back(std::move(one));
  }
  const Json json = {{"family", report.family},
                     {"source_kind", report.source_kind},
                     {"file_bytes", report.file_bytes},
                     {"table_bytes", report.table_bytes},
                     {"weight_bytes", report.weight_bytes},
                     {"parameters", report.parameters},
                     {"arena_bytes", report.arena_bytes},
                     {"arena_rows", report.arena_rows},
                     {"calibration_texts", report.calibration_texts},
                     {"layers", layers},
                     {"notes", report.notes},
                     {"warnings", report.warnings}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heed::tools
