// The fixed parts of the page that `heed attention -o map.html` writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace heed::tools {

// Everything up to the data, styles included.
std::string_view page_begin();
// What runs behind the data.
std::string_view page_script();

}  // namespace heed::tools
