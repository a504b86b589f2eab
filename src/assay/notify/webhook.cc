#include "assay/notify/webhook.h"

#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::notify {
namespace {

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host == "::1" || host == "127.0.0.1";
}

}  // namespace

std::string_view to_string(Preset preset) {
  switch (preset) {
    case Preset::discord:
      return "discord";
    case Preset::slack:
      return "slack";
    case Preset::json:
      return "json";
  }
  return "";
}

Result<Preset> parse_preset(std::string_view text) {
  for (const Preset preset : {Preset::discord, Preset::slack, Preset::json})
    if (text == to_string(preset)) return preset;
  return fail(ErrorCode::invalid_input, "preset: '{}' is none of discord, slack and json",
              sanitize(text, 60));
}

std::string Webhook::path(std::string_view more_query) const {
  std::string text = url.path.empty() ? "/" : url.path;
  for (const std::string_view part : {std::string_view(query), more_query})
    if (!part.empty()) {
      text += text.find('?') == std::string::npos ? '?' : '&';
      text += part;
    }
  return text;
}

std::string Webhook::identity() const {
  constexpr std::size_t kDigits = 24;
  return sha256_hex(url.authority() + path()).substr(0, kDigits);
}

Result<Webhook> parse_webhook(std::string_view text, Preset preset) {
  Webhook webhook;
  webhook.preset = preset;
  const std::size_t mark = text.find('?');
  // The parser's own sentences repeat what they refuse, and this is a secret.
  const auto url = net::parse_url(text.substr(0, mark));
  if (!url || text.find('#') != std::string_view::npos)
    return fail(ErrorCode::invalid_input, "it is no URL: expected https://HOST/PATH");
  webhook.url = *url;
  if (mark != std::string_view::npos) webhook.query = text.substr(mark + 1);
  for (const char c : webhook.query)
    if (c <= ' ' || c >= 0x7f)
      return fail(ErrorCode::invalid_input, "its query holds what a URL cannot");
  if (!url->tls && !is_this_machine(url->host))
    return fail(ErrorCode::invalid_input,
                "it would go unencrypted over the network: give an https:// URL");
  return webhook;
}

std::string masked(std::string_view url) {
  if (url.empty()) return "";
  const auto parsed = net::parse_url(url.substr(0, url.find('?')));
  if (!parsed) return "…";
  return fmt::format("{}://{}/…", parsed->tls ? "https" : "http", sanitize(parsed->host, 100));
}

}  // namespace assay::notify
