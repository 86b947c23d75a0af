// SPDX-License-Identifier: Apache-2.0
#include "convert/front_ends/tasks.h"

#include <map>

#include "convert/tokenizer_parts.h"
#include "error.h"

namespace heed::tools {
namespace {

const std::string kTasks = "task_specific_params";

using Named = std::map<std::string, Json>;

// The settings of each task.
Named tasks_of(Config& config) {
  Named tasks;
  const Json* found = config.find(kTasks);
  if (!found) return tasks;
  if (!found->is_object()) throw Error(config.where() + ": \"" + kTasks + "\" is " + shown(*found) + ", not an object");
  for (const auto& [name, settings] : found->items()) {
    if (settings.is_object()) tasks[name] = settings;
  }
  return tasks;
}

std::string names_in(const Named& all) {
  std::string names;
  for (const auto& [name, value] : all) names += (names.empty() ? "" : ", ") + name;
  return names;
}

// Tasks that search in a way of their own, which is taken only where it is asked for.
void note_left_out(Named tasks, Config& config, Spec& spec) {
  std::erase_if(tasks, [](const auto& task) { return task.second.size() == task.second.count("prefix"); });
  if (tasks.empty()) return;
  spec.notes.push_back(config.where() + ": how \"" + kTasks + "\" searches for a task is left out; --task takes it, as transformers' pipelines do, for one of " + names_in(tasks));
}

}  // namespace

Json read_task_search(Config& config, const std::string& task, Spec& spec) {
  const Named tasks = tasks_of(config);
  if (task.empty()) {
    note_left_out(tasks, config, spec);
    return Json::object();
  }
  const auto found = tasks.find(task);
  if (found == tasks.end()) {
    throw Error(config.where() + ": \"" + kTasks + "\" has no task " + in_quotes(task) + (tasks.empty() ? ", and none at all" : "; it has " + names_in(tasks)));
  }
  Json search = found->second;
  search.erase("prefix");
  if (!search.empty()) spec.notes.push_back(config.where() + ": of task " + in_quotes(task) + " the search has: " + names_in(search.get<Named>()));
  return search;
}

void read_task_prefixes(Config& config, const std::string& task, Spec& spec) {
  Named prefixes;
  for (const auto& [name, settings] : tasks_of(config)) {
    const auto prefix = settings.find("prefix");
    if (prefix == settings.end() || !prefix->is_string()) continue;
    spec.model.metadata->prompts.push_back(std::make_unique<schema::PromptT>());
    spec.model.metadata->prompts.back()->name = name;
    spec.model.metadata->prompts.back()->text = prefix->get<std::string>();
    if (name == task) spec.model.metadata->default_prompt = name;
    prefixes[name] = *prefix;
  }
  const bool has_default = prefixes.count(task) > 0;
  if (const Json* prefix = config.find("prefix"); prefix && !has_default && *prefix != "") {
    spec.notes.push_back(config.where() + ": \"prefix\" is " + shown(*prefix) + ", which transformers' pipelines put before each text and heed does not");
  }
  if (prefixes.empty()) return;
  const std::string chosen = has_default ? ", by default that of " + task : "";
  spec.notes.push_back(config.where() + ": the prefixes of \"" + kTasks + "\" are prompts (--prompt-name" + chosen + "): " + names_in(prefixes));
}

}  // namespace heed::tools
