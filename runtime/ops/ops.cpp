// The table of the ops of this build, and what a node may say to each.
// SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"

namespace heed {

const Op* find_op(schema::OpKind kind) {
  static constexpr const Op* kOps[] = {
#define HEED_OP(name, file) &k##name##Op,
#include "built_ops.inc"
#undef HEED_OP
  };
  for (const Op* op : kOps) {
    if (op->kind == kind) return op;
  }
  return nullptr;
}

const char* unread_attribute(const schema::Node& node, Attributes read) {
#define HEED_ATTRIBUTE(field, unused) \
  if ((read & attributes(Attribute::field)) == 0 && !(node.field() == unused)) return #field;
#include "ops/attribute_list.inc"
#undef HEED_ATTRIBUTE
  return nullptr;
}

}  // namespace heed
