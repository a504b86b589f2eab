#include "assay/serve/desk.h"

#include <algorithm>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/keyed_random.h"
#include "assay/base/text.h"
#include "assay/serve/utf8.h"

namespace assay::serve {
namespace {

constexpr std::size_t kMostIdBytes = 128;

// What a client calls its request is echoed and logged only if it looks like a name.
bool is_request_id(std::string_view id) {
  return !id.empty() && id.size() <= kMostIdBytes && std::ranges::all_of(id, [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\\';
  });
}

// A browser asks so before it sends JSON for a page of another origin (the Fetch standard, 3.3).
bool is_preflight(const net::Request& request) {
  return request.method == "OPTIONS" && request.find("access-control-request-method") != nullptr;
}

net::Response preflight_response(const net::Request& request, const std::string& methods) {
  net::Response response{200, {{"Access-Control-Allow-Methods", methods}}, {}};
  // All that the page would send: what is in them is looked at when they come.
  const std::string* headers = request.find("access-control-request-headers");
  if (headers != nullptr)
    response.headers.push_back({"Access-Control-Allow-Headers", sanitize(*headers, 2000)});
  response.headers.push_back({"Access-Control-Max-Age", "600"});
  return response;
}

}  // namespace

Desk::Desk(DeskOptions options)
    : options_(std::move(options)),
      gate_(std::move(options_.key), std::move(options_.origins)),
      id_prefix_(fmt::format("{:016x}", KeyedRandom::from_system()())) {
  options_.site.has_key = gate_.has_key();
}

std::string Desk::new_id() { return fmt::format(FMT_COMPILE("{}{:08x}"), id_prefix_, ++ids_made_); }

Visit Desk::receive(const net::Request& request) {
  Visit visit;
  visit.accepted_ns = monotonic_ns();
  const std::string* asked_id = request.find("x-request-id");
  visit.request_id = asked_id != nullptr && is_request_id(*asked_id) ? *asked_id : new_id();
  visit.method = sanitize(request.method, 20);
  visit.path = sanitize(request.target.substr(0, request.target.find('?')), 200);
  visit.origin = gate_.allowed_origin(request);
  return visit;
}

std::optional<ApiError> Desk::error_of(const net::Request& request, const RouteMatch& match) const {
  if (match.allowed.empty())
    return ApiError{.status = 404,
                    .message = fmt::format("There is no {}.", sanitize(request.target, 200))};
  if (match.route == nullptr)
    return ApiError{.status = 405, .message = fmt::format("This path takes {}.", match.allowed)};
  if (auto refused = gate_.refuse(request, match.route->access)) return refused;
  if (draining_ && match.route->answer != nullptr)
    return ApiError{.status = 503, .message = "This server is about to end."};
  return match.route->method == "POST" ? refuse_media_type(request) : std::nullopt;
}

std::optional<net::Response> Desk::refuse(const net::Request& request,
                                          const RouteMatch& match) const {
  if (is_preflight(request) && !match.allowed.empty() && !gate_.allowed_origin(request).empty())
    return preflight_response(request, match.allowed);
  const auto refused = error_of(request, match);
  if (!refused) return std::nullopt;
  net::Response response = error_response(*refused);
  if (refused->status == 405) response.headers.push_back({"Allow", match.allowed});
  if (refused->status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

net::Response Desk::turn_away(const net::Refusal& refusal) {
  Visit visit{new_id(), "", "", monotonic_ns(), refusal.status, ""};
  net::Response response = error_response({.status = refusal.status, .message = refusal.sentence});
  decorate(response, visit);
  log(visit, {}, "refused");
  return response;
}

void Desk::decorate(net::Response& response, const Visit& visit) const {
  response.headers.push_back({"x-request-id", visit.request_id});
  if (!visit.origin.empty()) {
    response.headers.push_back({"Access-Control-Allow-Origin", visit.origin});
    response.headers.push_back({"Access-Control-Expose-Headers", "x-request-id, retry-after"});
    response.headers.push_back({"Vary", "Origin"});
  }
  if (response.status == 429) response.headers.push_back({"Retry-After", "1"});
  if (options_.no_retries && response.status >= 400)
    response.headers.push_back({"x-should-retry", "false"});
}

void Desk::log(const Visit& visit, const Usage& usage, std::string_view ending) const {
  if (!options_.access_log) return;
  const double ms = static_cast<double>(monotonic_ns() - visit.accepted_ns) / kNsPerMs;
  constexpr std::size_t kUsualBytes = 320;
  std::string line;
  line.reserve(kUsualBytes);
  line.append(R"({"time":")").append(utc_now_iso8601()).append(R"(","request_id":)");
  append_json_text(line, visit.request_id);
  append_json_text(line += R"(,"method":)", visit.method);
  append_json_text(line += R"(,"path":)", visit.path);
  fmt::format_to(std::back_inserter(line),
                 FMT_COMPILE(R"(,"status":{},"ms":{:.3f},"prompt_tokens":{},)"
                             R"("completion_tokens":{},"ending":"{}"}})"),
                 visit.status, ms, usage.prompt, usage.completion, ending);
  options_.access_log(line);
}

}  // namespace assay::serve
