// GPT-2's two files: vocab.json, and merges.txt with a pair of pieces on each line, the most important first.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer_byte_level.h"
#include "convert/tokenizer_parts.h"
#include "convert/tokenizer_subwords.h"
#include "error.h"

namespace heed::tools {
namespace {

namespace fs = std::filesystem;

// How these families end and begin a text, and whether they have the special pieces <s> and </s>.
bool has_sentence_marks(const std::string& model_type, const std::string& where) {
  for (const char* marked : {"bart", "roberta", "longformer", "led", "blenderbot"}) {
    if (model_type == marked) return true;
  }
  if (model_type == "gpt2" || model_type == "graph") return false;
  throw Error(where + ": heed does not know how the family '" + model_type + "' uses vocab.json and merges.txt. Save the checkpoint with tokenizer.json");
}

// A file that was cut short leaves pieces that nothing makes.
void check_complete(const SubwordSpec& spec, const fs::path& merges) {
  const Unmade unmade = unmade_pieces(spec);
  if (unmade.count == 0) return;
  throw Error(merges.string() + ": has no merge for " + std::to_string(unmade.count) + " of the pieces of vocab.json, " + shown(unmade.example) +
              " for one; it is cut short, or belongs to another vocabulary");
}

}  // namespace

SubwordSpec read_vocabulary_and_merges(const fs::path& folder, const std::string& model_type) {
  SubwordSpec spec;
  const fs::path vocabulary = folder / "vocab.json";
  const fs::path merges = folder / "merges.txt";
  spec.where = vocabulary.string();
  if (!fs::exists(vocabulary)) throw Error(merges.string() + ": vocab.json is missing beside it. Save the checkpoint with tokenizer.json");
  const bool marked = has_sentence_marks(model_type, spec.where);
  if (!fs::exists(merges)) throw Error(spec.where + ": merges.txt is missing beside it. Save the checkpoint with tokenizer.json");
  if (fs::exists(folder / "added_tokens.json")) {
    throw Error((folder / "added_tokens.json").string() + ": heed reads added tokens from tokenizer.json only. Save the checkpoint with it");
  }
  const Json json = read_json(vocabulary);
  spec.pieces = pieces_by_id(&json, spec.where);
  spec.split = schema::SplitKind::gpt2;
  const std::map<std::string, uint32_t> ids = ids_of(spec.pieces);
  const std::vector<std::string> lines = read_lines(merges);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty() || (i == 0 && lines[i].rfind("#version", 0) == 0)) continue;
    const size_t space = lines[i].find(' ');
    const auto left = ids.find(lines[i].substr(0, space));
    const auto right = space == std::string::npos ? ids.end() : ids.find(lines[i].substr(space + 1));
    const std::string where = merges.string() + ": line " + std::to_string(i + 1);
    if (left == ids.end() || right == ids.end()) throw Error(where + ": is not a merge of two pieces of vocab.json");
    add_merge(spec, ids, left->second, right->second, where);
  }
  for (const char* name : {"<s>", "</s>", "<pad>", "<unk>", "<mask>", "<|endoftext|>"}) {
    const auto found = ids.find(name);
    if (found == ids.end()) continue;
    schema::AddedTokenT token;
    token.text = name;
    token.id = found->second;
    token.special = true;
    spec.added.push_back(token);
  }
  check_complete(spec, merges);
  for (const char* name : {"<s>", "</s>"}) {
    if (!marked) break;
    if (ids.count(name) == 0) throw Error(spec.where + ": the vocabulary has no '" + name + "', which stands around a text of '" + model_type + "'");
  }
  if (marked) {
    spec.prefix = {ids.at("<s>")};
    spec.suffix = {ids.at("</s>")};
  }
  if (auto config = read_tokenizer_config(folder)) {
    config->only("truncation_side", {"right"});
    if (config->flag("add_prefix_space", false)) spec.prefix_space = schema::PrefixSpace::unless_space;
  }
  spell_out_bytes(spec);
  return spec;
}

}  // namespace heed::tools
