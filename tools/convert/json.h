// JSON from files that nobody vouches for, and configuration objects whose every key must be accounted for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace heed::tools {

using Json = nlohmann::json;

// Parses JSON; refuses duplicate keys and deep nesting. `where` (a file) leads every message.
Json parse_json(std::string_view text, const std::string& where);
Json read_json(const std::filesystem::path& path);

// A value as a message shows it: short, on one line.
std::string shown(const Json& value);

// A JSON object whose keys are read one by one; `finish` refuses those that nobody asked for.
class Config {
 public:
  Config(Json object, std::string where);  // throws Error if it is not an object

  bool has(const std::string& key) const { return object_.contains(key) && !object_[key].is_null(); }
  // A null counts, too.
  bool mentions(const std::string& key) const { return object_.contains(key); }
  const std::string& where() const { return where_; }

  // Each marks the key as known. A null counts as absent; an absent key without a default is an error.
  const Json* find(const std::string& key);
  uint32_t size(const std::string& key);
  uint32_t size(const std::string& key, uint32_t otherwise);
  double number(const std::string& key, double otherwise);
  bool flag(const std::string& key, bool otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  // The key may only have one of these values (or be absent): anything else changes the mathematics.
  void only(const std::string& key, std::initializer_list<Json> allowed);
  // Keys that say nothing about what is computed.
  void ignore(std::initializer_list<const char*> keys);
  // Puts the values of an object in the place of those that are there, and beside them.
  void update(const Json& object) { object_.update(object); }
  // Keys that `other` knows: it says the same and has the last word.
  void ignore_like(const Config& other);
  // Throws Error naming the first key that nobody asked for, and its value.
  void finish() const;

 private:
  [[noreturn]] void refuse(const std::string& key, const std::string& why) const;

  Json object_;
  std::string where_;
  std::set<std::string> known_;
};

}  // namespace heed::tools
