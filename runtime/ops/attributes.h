// Which attributes of a node an op reads. A node that sets another one is refused: nothing is silently ignored.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "model_generated.h"

namespace heed {

enum class Attribute : uint8_t {
#define HEED_ATTRIBUTE(field, unused) field,
#include "ops/attribute_list.inc"
#undef HEED_ATTRIBUTE
};

// A set of attributes, one bit each.
using Attributes = uint64_t;

template <class... List>
constexpr Attributes attributes(List... list) {
  return (Attributes{0} | ... | (Attributes{1} << static_cast<int>(list)));
}

// The name of an attribute that the node sets and that is not among those read, or null.
const char* unread_attribute(const schema::Node& node, Attributes read);

}  // namespace heed
