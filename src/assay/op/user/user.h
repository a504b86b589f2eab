#pragma once

// Operations that users define: a definition gives shapes, types, a tolerance, and a function of
// theirs that says what is right. Each is an operation of its own, and no kernel of assay's does
// it.

#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/op/operation.h"
#include "assay/op/user/definition.h"

namespace assay::user {

// The same object for the same definition; it stays. From then on its title finds it, too.
Result<const Operation*> define(const Definition& definition);

// What gives names such as "user:softmax@1a2b3c4d5e6f {...}" their meaning. It has no problems of
// its own.
const Operation& operation();

}  // namespace assay::user
