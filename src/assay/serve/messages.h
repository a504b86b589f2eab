#pragma once

#include <string>

#include "assay/base/json_fwd.h"
#include "assay/serve/body_fields.h"

namespace assay::serve {

// The messages of a chat as one text, for models without a template of their own: each is its role,
// a colon and its text, on a line; the assistant's turn comes last. An error is put into `fields`.
std::string joined_messages(BodyFields& fields);

}  // namespace assay::serve
