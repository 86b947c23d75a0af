// Opens a checkpoint folder's safetensors files.
// SPDX-License-Identifier: Apache-2.0
#include "convert/checkpoint.h"

#include <algorithm>

#include "convert/json.h"
#include "convert/pickle.h"
#include "error.h"
#include "files.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_missing(const fs::path& folder, const std::string& stem) {
  const std::string file = stem + ".safetensors";
  refuse_pickle(folder, file);
  throw Error(folder.string() + ": has no " + file + "; a checkpoint folder needs one (or " + file + ".index.json)");
}

}  // namespace

fs::path path_inside(const fs::path& folder, const std::string& name, const std::string& where) {
  const fs::path relative(name);
  const bool odd = name.find_first_of(std::string("\0\\:", 3)) != std::string::npos;
  const bool climbs = std::find(relative.begin(), relative.end(), "..") != relative.end();
  if (odd || climbs || relative.is_absolute()) {
    throw Error(where + ": names the file " + shown(name) +
                ", which is not inside the folder; heed reads only what is");
  }
  const fs::path path = folder / relative;
  if (!fs::exists(path)) return path;
  const fs::path home = fs::canonical(folder);
  const fs::path target = fs::canonical(path);
  // <cache>/models--NAME/snapshots/REVISION/file -> ../../blobs/HASH
  const bool snapshot = home.parent_path().filename() == "snapshots";
  if (!is_inside(target, home) && !(snapshot && is_inside(target, home.parent_path().parent_path() / "blobs"))) {
    throw Error(where + ": " + shown(name) + " is a link out of the folder; put a copy of the file in its place");
  }
  return path;
}

Checkpoint Checkpoint::open(const fs::path& folder, const std::string& stem) {
  Checkpoint checkpoint;
  checkpoint.where_ = folder.string();
  const fs::path index = folder / (stem + ".safetensors.index.json");
  const fs::path single = folder / (stem + ".safetensors");
  if (fs::exists(index)) {
    checkpoint.add_shards(folder, index);
  } else if (fs::exists(single)) {
    checkpoint.add(single);
  } else {
    refuse_missing(folder, stem);
  }
  return checkpoint;
}

void Checkpoint::add(const fs::path& path) {
  const auto file = std::make_shared<const Safetensors>(read_safetensors(path));
  files_.push_back(file);
  for (const SourceTensor& tensor : file->tensors) {
    const auto [known, fresh] = tensors_.emplace(tensor.name, tensor);
    if (!fresh) {
      throw Error(tensor.title() + " is also in " + known->second.file + "; a tensor may be in one file only");
    }
  }
}

void Checkpoint::add_shards(const fs::path& folder, const fs::path& index) {
  const std::string where = index.string();
  const Json json = read_json(index);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (map == json.end() || !map->is_object() || map->empty()) {
    throw Error(where + ": has no \"weight_map\" of tensors to files");
  }
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) {
      throw Error(where + ": the file of tensor " + shown(tensor) + " is " + shown(shard) + ", not a name");
    }
    shards.insert(shard.get<std::string>());
  }
  std::vector<fs::path> paths;
  for (const std::string& shard : shards) {
    paths.push_back(path_inside(folder, shard, where));
    if (!fs::exists(paths.back())) {
      throw Error(paths.back().string() + ": is missing, and " + where + " names it; fetch it");
    }
  }
  for (const fs::path& path : paths) add(path);
  for (const auto& [tensor, shard] : map->items()) {
    const auto found = tensors_.find(tensor);
    const std::string expected = (folder / shard.get<std::string>()).string();
    if (found == tensors_.end() || found->second.file != expected) {
      throw Error(where + ": says that tensor '" + tensor + "' is in " + expected + ", where it is not");
    }
  }
  for (const auto& [name, tensor] : tensors_) {
    if (!map->contains(name)) {
      throw Error(tensor.title() + " is not in " + where + "; the files do not belong together");
    }
  }
}

SourceTensor Checkpoint::take(const std::string& name) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw Error(where_ + ": tensor '" + name + "' is missing; the checkpoint is not complete");
  }
  used_.insert(name);
  return found->second;
}

SourceTensor Checkpoint::take(const std::string& name, const std::vector<uint64_t>& shape, const std::string& why) {
  SourceTensor tensor = take(name);
  if (tensor.shape != shape) {
    throw Error(tensor.title() + " has shape " + shape_text(tensor.shape) + ", but " + why + " asks for " +
                shape_text(shape));
  }
  return tensor;
}

std::vector<std::string> Checkpoint::left_over() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) {
    if (!used_.count(name)) names.push_back(name);
  }
  return names;
}

}  // namespace heed::tools
