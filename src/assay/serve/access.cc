#include "assay/serve/access.h"

#include <algorithm>

#include "assay/base/text.h"

namespace assay::serve {
namespace {

Sha256Digest digest_of(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

// None: no Bearer of anything.
std::optional<std::string_view> bearer(const net::Request& request) {
  const std::string* header = request.find("authorization");
  if (header == nullptr || header->size() < 7) return std::nullopt;
  if (net::lower_case(std::string_view(*header).substr(0, 7)) != "bearer ") return std::nullopt;
  return trim(std::string_view(*header).substr(7));
}

}  // namespace

ApiKey::ApiKey(std::string_view key) : digest_(digest_of(key)) {}

// Digests are of one length, and each byte is looked at.
bool ApiKey::is(std::string_view offered) const {
  const Sha256Digest other = digest_of(offered);
  unsigned different = 0;
  for (std::size_t i = 0; i < digest_.size(); ++i)
    different |= static_cast<unsigned>(digest_[i] ^ other[i]);
  return different == 0;
}

std::string Gate::allowed_origin(const net::Request& request) const {
  const std::string* origin = request.find("origin");
  if (origin == nullptr || std::ranges::find(origins_, *origin) == origins_.end()) return {};
  return *origin;
}

std::optional<ApiError> Gate::refuse_origin(const net::Request& request) const {
  if (request.find("origin") == nullptr || !allowed_origin(request).empty()) return std::nullopt;
  return ApiError{
      .status = 403,
      .message = "Pages of this origin may not ask; --allow-origin names those that may."};
}

std::optional<ApiError> Gate::refuse(const net::Request& request, Access access) const {
  if (auto refused = refuse_origin(request)) return refused;
  if (access == Access::open) return std::nullopt;
  if (!key_ && access == Access::key_only)
    return ApiError{.status = 403,
                    .message = "This endpoint needs a server with a key (--api-key-file)."};
  if (!key_) return std::nullopt;
  const auto offered = bearer(request);
  if (offered && key_->is(*offered)) return std::nullopt;
  return ApiError{.status = 401,
                  .message = offered ? "The key in the Authorization header is wrong."
                                     : "The request needs the header 'Authorization: Bearer KEY'.",
                  .code = "invalid_api_key"};
}

std::optional<ApiError> refuse_media_type(const net::Request& request) {
  const std::string* type = request.find("content-type");
  if (type != nullptr) {
    const std::string_view name = std::string_view(*type).substr(0, type->find(';'));
    if (net::lower_case(trim(name)) != "application/json")
      return ApiError{.status = 415,
                      .message = "The body's Content-Type must be application/json."};
  }
  const std::string* coding = request.find("content-encoding");
  if (coding != nullptr && net::lower_case(*coding) != "identity")
    return ApiError{.status = 415, .message = "The body must not be compressed."};
  return std::nullopt;
}

}  // namespace assay::serve
