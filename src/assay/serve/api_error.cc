#include "assay/serve/api_error.h"

#include <utility>

#include "assay/serve/utf8.h"

namespace assay::serve {
namespace {

void append_or_null(std::string& out, std::string_view text) {
  if (text.empty())
    out += "null";
  else
    append_json_text(out, text);
}

}  // namespace

std::string_view error_type(int status) {
  switch (status) {
    case 401:
      return "invalid_api_key";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 501:
      return "not_supported_error";
    case 503:
      return "unavailable_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

std::string error_json(const ApiError& error) {
  std::string out = R"({"error":{"message":)";
  append_json_text(out, error.message);
  out += R"(,"type":)";
  append_json_text(out, error.type.empty() ? error_type(error.status) : error.type);
  out += R"(,"param":)";
  append_or_null(out, error.param);
  out += R"(,"code":)";
  append_or_null(out, error.code);
  return out + "}}";
}

net::Response json_response(std::string body, int status) {
  return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

net::Response error_response(const ApiError& error) {
  return json_response(error_json(error), error.status);
}

}  // namespace assay::serve
