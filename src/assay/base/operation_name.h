#pragma once

// Names of operations, as problems, rules and records have them. That of an operation which a user
// defines holds its definition: `user:softmax@1a2b3c4d5e6f {...}`, with a hash of it for people.

#include <string_view>

namespace assay {

// Whether it was not assay but a user who said what is right.
inline bool is_defined_by_user(std::string_view operation) {
  return operation.starts_with("user:");
}

// What people are shown: user:softmax@1a2b3c4d5e6f.
inline std::string_view operation_title(std::string_view operation) {
  return operation.substr(0, operation.find(' '));
}

// What problems of it are called by: softmax.
inline std::string_view short_operation_name(std::string_view operation) {
  if (!is_defined_by_user(operation)) return operation;
  operation.remove_prefix(operation.find(':') + 1);
  return operation.substr(0, operation.find_first_of("@ "));
}

}  // namespace assay
