// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_decode.h"

#include <algorithm>

#include "cli/translator.h"
#include "error.h"

namespace heed::tools {
namespace {

constexpr uint32_t kMostTokens = 128;

const std::vector<int32_t>& ids_of(const Sequence& sequence) { return sequence[0].ids; }

class Side {
 public:
  explicit Side(const DecodeSide& side) : options_(options_of(side.model)), translator_(side.model, side.session, options_, longest(side.sequences)) {}

  // With the token that ends it.
  std::vector<uint32_t> output(const std::vector<int32_t>& source) {
    Found found = translator_.search(source);
    if (found.stopped) found.tokens.push_back(options_.stop_token);
    return found.tokens;
  }
  std::vector<float> logits(const std::vector<int32_t>& source, const std::vector<uint32_t>& tokens) { return translator_.logits(source, tokens); }

 private:
  static heed_generate_options options_of(const Model& model) {
    heed_generate_options options;
    heed_default_generate_options(&model.handle(), &options);
    options.beams = 1;
    options.max_tokens = std::min(options.max_tokens, kMostTokens);
    return options;
  }
  static uint32_t longest(const std::vector<Sequence>& sequences) {
    size_t rows = 1;
    for (const Sequence& sequence : sequences) rows = std::max(rows, ids_of(sequence).size());
    return static_cast<uint32_t>(rows);
  }

  heed_generate_options options_;
  Translator translator_;
};

uint64_t same_choices(const std::vector<float>& a, const std::vector<float>& b, size_t tokens) {
  if (tokens == 0) return 0;
  const auto features = static_cast<std::ptrdiff_t>(a.size() / tokens);
  const auto likeliest = [&](const std::vector<float>& logits, size_t token) {
    const auto row = logits.begin() + static_cast<std::ptrdiff_t>(token) * features;
    return std::max_element(row, row + features) - row;
  };
  uint64_t same = 0;
  for (size_t token = 0; token < tokens; ++token) same += likeliest(a, token) == likeliest(b, token);
  return same;
}

}  // namespace

DecodeDifference compare_decode(const DecodeSide& ours, const DecodeSide& reference) {
  Side mine(ours), other(reference);
  DecodeDifference difference;
  DifferenceSum sum(graph_named(ours.model, "decode").outputs()->Get(0)->name()->str());
  for (size_t i = 0; i < ours.sequences.size(); ++i) {
    const std::vector<int32_t>& source = ids_of(ours.sequences[i]);
    const std::vector<uint32_t> tokens = other.output(ids_of(reference.sequences[i]));
    const std::vector<float> found = mine.logits(source, tokens);
    const std::vector<float> wanted = other.logits(ids_of(reference.sequences[i]), tokens);
    if (found.size() != wanted.size()) {
      throw Error(reference.model.path() + ": its outputs are of " + std::to_string(wanted.size() / tokens.size()) + " different tokens, those of " +
                  ours.model.path() + " of " + std::to_string(found.size() / tokens.size()));
    }
    sum.add(found, wanted);
    difference.tokens += tokens.size();
    difference.same_choices += same_choices(found, wanted, tokens.size());
    difference.same_outputs += mine.output(source) == tokens;
  }
  difference.logits = sum.result();
  return difference;
}

}  // namespace heed::tools
