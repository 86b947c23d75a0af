// What config.json's "task_specific_params" say of a model's tasks ("summarization", "translation_en_to_de").
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "convert/json.h"
#include "convert/spec.h"

namespace heed::tools {

// How `task` wants its outputs searched, for read_generation; nothing if it is empty. What is taken, or what there is to take, is noted in
// `spec`. Throws Error if there is no such task.
Json read_task_search(Config& config, const std::string& task, Spec& spec);

// What goes before a text of each task ("translate English to German: "), as prompts by the tasks' names; that of `task` is the default.
void read_task_prefixes(Config& config, const std::string& task, Spec& spec);

}  // namespace heed::tools
