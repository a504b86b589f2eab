#pragma once

#include <string>

#include "assay/base/json_fwd.h"
#include "assay/serve/body_fields.h"
#include "assay/text/chat_template.h"

namespace assay::serve {

// The messages of a chat as one text. An error is put into `fields`.
std::string chat_text(BodyFields& fields, text::ChatTemplate form);

}  // namespace assay::serve
