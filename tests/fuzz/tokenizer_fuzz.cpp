// Any bytes as the tokenizer files of a checkpoint: refused, or a vocabulary that makes tables. The first byte says which files
// there are; each ends at a NUL. The tables of Unicode, which are the same for all and slow to make, are left out.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer_files.h"

#include "fuzz/scratch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heed;
  if (size == 0) return 0;
  std::string_view rest = testing::view_of(data + 1, size - 1);
  constexpr const char* kNames[] = {"tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json"};
  for (unsigned i = 0; i < 4; ++i) {
    std::error_code ignored;
    std::filesystem::remove(testing::scratch_folder() / kNames[i], ignored);
    if ((data[0] >> i & 1) == 0) continue;
    const size_t end = rest.find('\0');
    testing::write_scratch(kNames[i], rest.substr(0, end));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  const auto build = [](const tools::WordPieceSpec& spec) {
    schema::TokenizerT tables;
    tools::build_vocabulary(spec.where, spec.pieces, {}, tables);
  };
  if (data[0] & 1) testing::accepts([&] { build(tools::read_tokenizer_json(testing::scratch_folder())); });
  if (data[0] & 2) testing::accepts([&] { build(tools::read_vocabulary_text(testing::scratch_folder(), "bert")); });
  return 0;
}
