#pragma once

// Errors as clients of OpenAI's interface read them.

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "assay/net/http.h"

namespace assay::serve {

struct ApiError {
  int status = 400;
  std::string message;  // A sentence that says what would be right.
  std::string param;    // The field that is wrong; empty: none, or null as JSON.
  std::string code;     // "model_not_found"; empty likewise.
  std::string type;     // Empty: what the status says (error_type).
};

template <class T>
using Outcome = tl::expected<T, ApiError>;

inline tl::unexpected<ApiError> refuse(ApiError error) {
  return tl::unexpected<ApiError>(std::move(error));
}

std::string_view error_type(int status);  // "invalid_request_error"
std::string error_json(const ApiError& error);
net::Response json_response(std::string body, int status = 200);
net::Response error_response(const ApiError& error);

}  // namespace assay::serve
