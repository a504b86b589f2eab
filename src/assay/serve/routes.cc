#include "assay/serve/routes.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/serve/model_list.h"
#include "assay/serve/text_routes.h"

namespace assay::serve {
namespace {

Answer health(const RouteContext& context, const net::Request&, std::string_view) {
  if (auto why = context.backend.unavailable())
    return error_answer({.status = 503, .message = std::move(*why)});
  return {json_response(R"({"status":"ok"})"), nullptr, {}};
}

int context_of(const RouteContext& context) { return context.backend.capabilities().context; }

Answer version(const RouteContext& context, const net::Request&, std::string_view) {
  return {version_response(context.site, context.backend.capabilities().name), nullptr, {}};
}

Answer models(const RouteContext& context, const net::Request&, std::string_view) {
  return {model_list_response(context.site, context_of(context)), nullptr, {}};
}

Answer one_model(const RouteContext& context, const net::Request&, std::string_view name) {
  if (name != context.site.model) return error_answer(no_model(context.site, name));
  return {model_response(context.site, context_of(context)), nullptr, {}};
}

Answer not_here(const RouteContext&, const net::Request&, std::string_view) {
  return error_answer(
      {.status = 501,
       .message = "This endpoint is not supported: use /v1/chat/completions or /v1/completions."});
}

Answer no_profiler(const RouteContext& context, const net::Request&, std::string_view) {
  return error_answer({.status = 501,
                       .message = fmt::format("The backend {} has no profiler.",
                                              context.backend.capabilities().name)});
}

// No backend keeps a cache from request to request; that nothing is left is what was asked for.
Answer flush_cache(const RouteContext&, const net::Request&, std::string_view) {
  return {json_response("{}"), nullptr, {}};
}

constexpr std::array<Route, 18> kRoutes = {{
    {"GET", "/health", Access::open, health},
    {"GET", "/ping", Access::open, health},
    {"GET", "/version", Access::key, version},
    {"GET", "/v1/models", Access::key, models},
    {"GET", "/v1/models/", Access::key, one_model},
    {"POST", "/v1/chat/completions", Access::key, chat_completions},
    {"POST", "/v1/completions", Access::key, completions},
    {"POST", "/tokenize", Access::key, tokenize},
    {"POST", "/detokenize", Access::key, detokenize},
    {"POST", "/v1/responses", Access::key, not_here},
    {"POST", "/v1/embeddings", Access::key, not_here},
    {"POST", "/start_profile", Access::key_only, no_profiler},
    {"POST", "/stop_profile", Access::key_only, no_profiler},
    {"POST", "/flush_cache", Access::key_only, flush_cache},
    {"POST", "/reset_prefix_cache", Access::key_only, flush_cache},
    {"POST", "/ping", Access::open, health},
    // The server answers it, which counts what passes through it.
    {"GET", "/metrics", Access::key, nullptr},
    {"GET", "/v1/health", Access::open, health},
}};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                       hex_digit(text[i + 2]) >= 0;
    out +=
        coded ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    i += coded ? 2 : 0;
  }
  return out;
}

// The path of a target: "/v1/models" of "http://host/v1/models?x=y".
std::string_view path_of(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find('/', scheme.size());
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  return target.substr(0, target.find('?'));
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

RouteMatch find_route(std::string_view method, std::string_view target) {
  const std::string_view path = path_of(target);
  RouteMatch match;
  for (const Route& route : kRoutes) {
    const bool takes_rest = route.path.ends_with('/');
    const bool fits = takes_rest ? path.starts_with(route.path) && path.size() > route.path.size()
                                 : path == route.path;
    if (!fits) continue;
    match.allowed += (match.allowed.empty() ? "" : ", ") + std::string(route.method);
    const bool same = method == route.method || (method == "HEAD" && route.method == "GET");
    if (!same) continue;
    match.route = &route;
    if (takes_rest) match.rest = percent_decoded(path.substr(route.path.size()));
  }
  return match;
}

}  // namespace assay::serve
