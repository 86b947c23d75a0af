// JSON with duplicate keys, depth and unknown keys refused.
// SPDX-License-Identifier: Apache-2.0
#include "convert/json.h"

#include <limits>
#include <vector>

#include "error.h"
#include "files.h"

namespace heed::tools {
namespace {

constexpr int kMaxDepth = 64;
constexpr uint64_t kMaxFileBytes = uint64_t{256} << 20;

// The library's message without its bracketed prefix.
std::string reason(const std::exception& error) {
  const std::string text = error.what();
  const size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  std::vector<std::set<std::string>> keys;  // of each object that is open
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth > kMaxDepth) throw Error(where + ": JSON is nested deeper than " + std::to_string(kMaxDepth));
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw Error(where + ": duplicate key " + shown(parsed) + " in JSON; write the file anew with each name once");
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check);
  } catch (const nlohmann::json::exception& error) {
    throw Error(where + ": not valid JSON: " + reason(error));
  }
}

Json read_json(const std::filesystem::path& path) {
  const MappedFile file(path);
  if (file.size() > kMaxFileBytes) throw Error(path.string() + ": too large for a JSON file");
  return parse_json(file.text(), path.string());
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

Config::Config(Json object, std::string where) : object_(std::move(object)), where_(std::move(where)) {
  if (!object_.is_object()) throw Error(where_ + ": expected a JSON object, found " + shown(object_));
}

void Config::refuse(const std::string& key, const std::string& why) const {
  throw Error(where_ + ": \"" + key + "\" is " + shown(object_[key]) + ", " + why);
}

const Json* Config::find(const std::string& key) {
  known_.insert(key);
  return has(key) ? &object_[key] : nullptr;
}

uint32_t Config::size(const std::string& key) {
  if (!find(key)) throw Error(where_ + ": \"" + key + "\" is missing; the model cannot be built without it");
  return size(key, 0);
}

uint32_t Config::size(const std::string& key, uint32_t otherwise) {
  const Json* value = find(key);
  if (!value) return otherwise;
  const bool fits = value->is_number_unsigned() && value->get<uint64_t>() <= std::numeric_limits<int32_t>::max();
  if (!fits) refuse(key, "which is not a whole number from 0 to 2147483647");
  return value->get<uint32_t>();
}

double Config::number(const std::string& key, double otherwise) {
  const Json* value = find(key);
  if (value && !value->is_number()) refuse(key, "which is not a number");
  return value ? value->get<double>() : otherwise;
}

bool Config::flag(const std::string& key, bool otherwise) {
  const Json* value = find(key);
  if (value && !value->is_boolean()) refuse(key, "which is neither true nor false");
  return value ? value->get<bool>() : otherwise;
}

std::string Config::text(const std::string& key, const std::string& otherwise) {
  const Json* value = find(key);
  if (value && !value->is_string()) refuse(key, "which is not a text");
  return value ? value->get<std::string>() : otherwise;
}

void Config::only(const std::string& key, std::initializer_list<Json> allowed) {
  const Json* value = find(key);
  if (!value) return;
  std::string list;
  for (const Json& one : allowed) {
    if (*value == one) return;
    list += (list.empty() ? "" : " or ") + shown(one);
  }
  if (list.empty()) list = "models without it";
  refuse(key, "which changes what the model computes; heed converts " + list +
                  ". Express the model as a graph folder (schemas/FORMAT.md) if its graph differs");
}

void Config::ignore(std::initializer_list<const char*> keys) { known_.insert(keys.begin(), keys.end()); }

void Config::ignore_like(const Config& other) { known_.insert(other.known_.begin(), other.known_.end()); }

void Config::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (known_.count(key)) continue;
    refuse(key,
           "a key that heed does not know and that may change what the model computes. "
           "If it does not, remove it from the file and convert again");
  }
}

}  // namespace heed::tools
