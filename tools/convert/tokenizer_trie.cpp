// Places the nodes of a tree into a double array, from the root down, each in the first gap that has room for its children.
// SPDX-License-Identifier: Apache-2.0
#include "convert/tokenizer_trie.h"

#include "error.h"

namespace heed::tools {
namespace {

using Entries = std::vector<std::pair<std::string, uint32_t>>;

constexpr uint32_t kEnds = 1u << 8;
constexpr uint32_t kFarOffset = 1u << 9;
constexpr uint32_t kNumber = 1u << 31;
constexpr uint32_t kBlock = 256;

class Builder {
 public:
  explicit Builder(Entries entries) : entries_(std::move(entries)) {}

  std::vector<uint32_t> build() {
    grow();
    used_[0] = true;
    std::vector<Node> waiting = {{0, 0, entries_.size(), 0}};
    while (!waiting.empty()) {
      const Node node = waiting.back();
      waiting.pop_back();
      place(node, waiting);
    }
    return std::move(units_);
  }

 private:
  // Entries first .. last - 1 share their first `depth` bytes; their unit is at `at`.
  struct Node {
    uint32_t at;
    size_t first, last, depth;
  };

  void grow() {
    units_.resize(units_.size() + kBlock);
    used_.resize(units_.size());
    taken_.resize(units_.size());
  }

  // A base at which all children have room, and whose distance from `at` can be written.
  uint32_t find_base(uint32_t at, const std::vector<uint8_t>& children) {
    while (first_free_ < used_.size() && used_[first_free_]) ++first_free_;
    for (uint32_t unit = first_free_;; ++unit) {
      if (unit >= units_.size()) grow();
      if (used_[unit]) continue;
      const uint32_t base = unit ^ children[0];
      const uint32_t offset = at ^ base;
      const bool written = offset < 1u << 21 || (offset < 1u << 29 && offset % kBlock == 0);
      bool room = written && !taken_[base];
      for (size_t i = 1; room && i < children.size(); ++i) room = !used_[base ^ children[i]];
      if (room) return base;
    }
  }

  void place(const Node& node, std::vector<Node>& waiting) {
    std::vector<uint8_t> children;
    std::vector<size_t> firsts;
    for (size_t i = node.first; i < node.last; ++i) {
      const std::string& text = entries_[i].first;
      const auto byte = text.size() > node.depth ? static_cast<uint8_t>(text[node.depth]) : uint8_t{0};
      if (children.empty() || children.back() != byte) {
        children.push_back(byte);
        firsts.push_back(i);
      }
    }
    if (children.empty()) return;
    firsts.push_back(node.last);
    const uint32_t base = find_base(node.at, children);
    taken_[base] = true;  // no two nodes share one, or their children would be taken for each other's
    const uint32_t offset = node.at ^ base;
    units_[node.at] |= (offset < 1u << 21 ? offset << 10 : offset << 2 | kFarOffset) | (children[0] == 0 ? kEnds : 0);
    for (const uint8_t byte : children) used_[base ^ byte] = true;
    for (size_t i = 0; i < children.size(); ++i) {
      const uint32_t child = base ^ children[i];
      if (children[i] == 0) {
        units_[child] = kNumber | entries_[firsts[i]].second;
      } else {
        units_[child] = children[i];
        waiting.push_back({child, firsts[i], firsts[i + 1], node.depth + 1});
      }
    }
  }

  Entries entries_;
  std::vector<uint32_t> units_;
  std::vector<bool> used_;
  std::vector<bool> taken_;  // bases
  uint32_t first_free_ = 0;
};

}  // namespace

std::vector<uint32_t> build_trie(const std::map<std::string, uint32_t>& numbers) {
  for (const auto& [text, number] : numbers) {
    if (text.empty() || text.find('\0') != std::string::npos) throw Error("a piece that is empty or has a zero byte cannot be stored");
  }
  return Builder(Entries(numbers.begin(), numbers.end())).build();
}

}  // namespace heed::tools
