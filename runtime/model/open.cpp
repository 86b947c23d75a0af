// The frame of a model file: sizes, magic, checksum, FlatBuffers verifier, version, weight region.
// SPDX-License-Identifier: Apache-2.0
#include "model/open.h"

#include <cstring>

#include "model/diagnostic.h"
#include "model/validate.h"
#include "model/weight.h"
#include "model/xxh64.h"
#include "quant/panel.h"

namespace heed {
namespace {

constexpr uint64_t kPrefixBytes = 4;
constexpr uint64_t kChecksumBytes = 8;
constexpr uint64_t kMagicAt = 8;  // after the prefix and the root's offset
constexpr uint32_t kMaxDepth = 16;
constexpr uint32_t kMaxTables = 200000;

// Length of the prefixed FlatBuffer, once it is known to be inside the file, to be a heed file and to be whole.
heed_status check_frame(const uint8_t* bytes, uint64_t size, uint64_t* table_bytes, heed_diagnostic* diagnostic) {
  const uint64_t least = kMagicAt + 4;
  if (size >= least && std::memcmp(bytes + kMagicAt, "HEED", 4) != 0) {
    return refuse(diagnostic, HEED_BAD_MAGIC, "identifier");
  }
  if (size < least) return refuse(diagnostic, HEED_TRUNCATED, "file size", static_cast<int64_t>(size), least);
  *table_bytes = kPrefixBytes + read_u32(bytes);
  if (*table_bytes > kMaxTableBytes) {
    return refuse(diagnostic, HEED_TOO_LARGE, "tables", static_cast<int64_t>(*table_bytes), kMaxTableBytes);
  }
  if (*table_bytes < least) return refuse(diagnostic, HEED_CORRUPT, "length of the tables");
  if (size < *table_bytes + kChecksumBytes) {
    return refuse(diagnostic, HEED_TRUNCATED, "file size", static_cast<int64_t>(size),
                  static_cast<int64_t>(*table_bytes + kChecksumBytes));
  }
  diagnostic->byte_offset = static_cast<int64_t>(*table_bytes);
  if (xxh64(bytes, *table_bytes) != read_u64(bytes + *table_bytes)) {
    return refuse(diagnostic, HEED_CORRUPT, "checksum of the tables");
  }
  diagnostic->byte_offset = -1;
  return HEED_OK;
}

heed_status check_tables(const uint8_t* bytes, uint64_t table_bytes, heed_diagnostic* diagnostic) {
  flatbuffers::Verifier verifier(bytes, static_cast<size_t>(table_bytes), kMaxDepth, kMaxTables);
  if (!schema::VerifySizePrefixedModelBuffer(verifier)) return refuse(diagnostic, HEED_CORRUPT, "tables");
  const uint32_t version = schema::GetSizePrefixedModel(bytes)->version();
  if (version > kFormatVersion) {
    return refuse(diagnostic, HEED_VERSION, "format version", version, kFormatVersion);
  }
  if (version == 0) return refuse(diagnostic, HEED_CORRUPT, "format version", 0, kFormatVersion);
  return HEED_OK;
}

// The weight region has to start behind zeros at a multiple of 64 and to end with the file.
heed_status check_region(const uint8_t* bytes, uint64_t size, uint64_t table_end, heed_model* model,
                         heed_diagnostic* diagnostic) {
  const uint64_t region = round_up(table_end, kAlignment);
  const uint64_t wanted = root(*model).weight_region_bytes();
  if (size < region || size - region < wanted) {
    return refuse(diagnostic, HEED_TRUNCATED, "weight region", static_cast<int64_t>(size < region ? 0 : size - region),
                  static_cast<int64_t>(wanted));
  }
  if (size - region > wanted) {
    return refuse(diagnostic, HEED_CORRUPT, "bytes behind the weight region", static_cast<int64_t>(size - region),
                  static_cast<int64_t>(wanted));
  }
  for (uint64_t i = table_end; i < region; ++i) {
    diagnostic->byte_offset = static_cast<int64_t>(i);
    if (bytes[i] != 0) return refuse(diagnostic, HEED_CORRUPT, "padding", bytes[i], 0);
  }
  diagnostic->byte_offset = -1;
  model->weights = bytes + region;
  model->weight_bytes = wanted;
  return HEED_OK;
}

}  // namespace

heed_status open_file(const void* bytes, uint64_t size, uint32_t flags, heed_model* model,
                      heed_diagnostic* diagnostic) {
  if (bytes == nullptr && size > 0) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "bytes");
  if ((flags & ~HEED_OPEN_CHECK_WEIGHTS) != 0) return refuse(diagnostic, HEED_INVALID_ARGUMENT, "flags", flags);
  if (reinterpret_cast<uintptr_t>(bytes) % kAlignment != 0) return refuse(diagnostic, HEED_MISALIGNED, "bytes");
  if (size > UINTPTR_MAX / 2) return refuse(diagnostic, HEED_TOO_LARGE, "file size", static_cast<int64_t>(size / 2));
  const uint8_t* file = static_cast<const uint8_t*>(bytes);
  uint64_t table_bytes = 0;
  if (heed_status s = check_frame(file, size, &table_bytes, diagnostic)) return s;
  if (heed_status s = check_tables(file, table_bytes, diagnostic)) return s;
  heed_model opened{file, size, schema::GetSizePrefixedModel(file), nullptr, 0};
  if (heed_status s = check_region(file, size, table_bytes + kChecksumBytes, &opened, diagnostic)) return s;
  if (heed_status s = validate_weights(opened, (flags & HEED_OPEN_CHECK_WEIGHTS) != 0, diagnostic)) return s;
  if (heed_status s = validate_graphs(opened, diagnostic)) return s;
  if (heed_status s = validate_states(opened, diagnostic)) return s;
  if (heed_status s = validate_tokenizers(opened, diagnostic)) return s;
  *model = opened;
  return HEED_OK;
}

uint64_t file_checksum(const heed_model& model) {
  const uint8_t* file = static_cast<const uint8_t*>(model.bytes);
  return read_u64(file + kPrefixBytes + read_u32(file));
}

}  // namespace heed
