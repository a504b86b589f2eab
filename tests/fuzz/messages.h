#pragma once

// Every message that our processes send, by name: a request's, and "NAME answer".

#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"

namespace assay::fuzz {

std::vector<std::string> message_names();

// Reads it as that message. Whatever is read is written as it was, and read again. True: it is one.
bool read_message(std::string_view name, const Json& fields, size_t files);

}  // namespace assay::fuzz
