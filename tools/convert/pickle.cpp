// SPDX-License-Identifier: Apache-2.0
#include "convert/pickle.h"

#include "convert/front_ends/encoder_decoder.h"
#include "convert/json.h"
#include "error.h"
#include "files.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

// transformers' class that loads a model with all that heed converts of it; empty for what is no model of transformers, as the
// layers that sentence-transformers adds. AutoModel would leave out what an encoder-decoder has after its decoder.
std::string class_of(const fs::path& folder) {
  if (!fs::exists(folder / "config.json")) return "";
  const Json config = read_json(folder / "config.json");
  const auto type = config.is_object() ? config.find("model_type") : config.end();
  if (type == config.end() || !type->is_string()) return "";
  return is_encoder_decoder(type->get<std::string>()) ? "AutoModelForSeq2SeqLM" : "AutoModel";
}

std::string quoted(const fs::path& path) { return "\"" + path.string() + "\""; }

std::string advice(const fs::path& folder, const std::string& wanted) {
  const std::string name = class_of(folder);
  if (name.empty()) {
    return "  import torch, safetensors.torch;  safetensors.torch.save_file(torch.load(" + quoted(folder / "pytorch_model.bin") + ", weights_only=True), " +
           quoted(folder / wanted) + ")";
  }
  // A folder of its own, as transformers writes a config.json, too.
  const std::string converted = resolved(folder).filename().string() + "-safetensors";
  return "  from transformers import " + name + ";  " + name + ".from_pretrained(" + quoted(folder) + ").save_pretrained(\"" + converted +
         "\", safe_serialization=True)  Then copy " + converted + "/" + wanted + " into " + folder.string() + ", beside the tokenizer's and other files";
}

}  // namespace

void refuse_pickle(const fs::path& folder, const std::string& wanted) {
  if (!fs::exists(folder / "pytorch_model.bin") && !fs::exists(folder / "pytorch_model.bin.index.json")) return;
  throw Error(folder.string() + ": has pytorch_model.bin but no " + wanted +
              ". A .bin file is a Python pickle: reading one runs code that it brings, so heed does not. Convert it once, where you trust it, "
              "with Python:" + advice(folder, wanted));
}

}  // namespace heed::tools
