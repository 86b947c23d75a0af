// The tensors of a checkpoint folder, whether one file or many, and which of them a front end has used.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convert/safetensors.h"

namespace heed::tools {

class Checkpoint {
 public:
  // Reads `folder`/<stem>.safetensors, or the shards that <stem>.safetensors.index.json names and no other. Throws
  // Error; for a folder that only has PyTorch's pickled file it explains what to do.
  static Checkpoint open(const std::filesystem::path& folder, const std::string& stem = "model");

  bool has(const std::string& name) const { return tensors_.count(name) != 0; }
  // The tensor, now used. Throws Error if it is missing or of another shape; `why` says where the shape comes from.
  SourceTensor take(const std::string& name, const std::vector<uint64_t>& shape, const std::string& why);
  SourceTensor take(const std::string& name);
  // Names of what was never taken, in alphabetical order.
  std::vector<std::string> left_over() const;
  const std::string& where() const { return where_; }
  // The mapped files; the tensors are views into them.
  const std::vector<std::shared_ptr<const Safetensors>>& files() const { return files_; }

 private:
  void add(const std::filesystem::path& path);
  void add_shards(const std::filesystem::path& folder, const std::filesystem::path& index);

  std::string where_;
  std::vector<std::shared_ptr<const Safetensors>> files_;
  std::map<std::string, SourceTensor> tensors_;
  std::set<std::string> used_;
};

// `folder`/`name` for a name that a file of the folder gives. Throws Error if it is absolute, climbs out of the folder
// or links out of it, except into the blobs folder of a Hugging Face cache that the folder is a snapshot of.
std::filesystem::path path_inside(const std::filesystem::path& folder, const std::string& name,
                                  const std::string& where);

}  // namespace heed::tools
