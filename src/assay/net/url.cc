#include "assay/net/url.h"

#include <algorithm>
#include <charconv>

#include "assay/base/text.h"

namespace assay::net {
namespace {

constexpr std::size_t kMostBytes = 2048;

bool is_plain(char c) { return c > ' ' && c < 0x7f; }

Result<std::uint16_t> read_port(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535)
    return fail(ErrorCode::invalid_input, "'{}' is no port: give 1 to 65535", sanitize(text, 40));
  return static_cast<std::uint16_t>(port);
}

}  // namespace

std::string Url::authority() const {
  const bool six = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", port);
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  if (text.find('@') != std::string_view::npos)
    return fail(ErrorCode::invalid_input, "a URL with a user or password is not taken");
  if (text.size() > kMostBytes || !std::ranges::all_of(text, is_plain))
    return fail(ErrorCode::invalid_input, "'{}' is no URL", sanitize(text, 200));
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.tls = true;
    url.port = 443;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return fail(ErrorCode::invalid_input, "'{}' must begin with http:// or https://",
                sanitize(text, 200));
  }
  if (rest.find_first_of("?#") != std::string_view::npos)
    return fail(ErrorCode::invalid_input, "'{}': a query has no place in a base URL",
                sanitize(text, 200));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  std::string_view place = rest.substr(0, slash);
  std::string_view port;
  if (place.starts_with('[')) {
    const std::size_t end = place.find(']');
    if (end == std::string_view::npos)
      return fail(ErrorCode::invalid_input, "'{}': a bracket is not closed", sanitize(text, 200));
    url.host = place.substr(1, end - 1);
    port = place.substr(end + 1);
    if (!port.empty() && port.front() != ':')
      return fail(ErrorCode::invalid_input, "'{}': only a port may follow an address",
                  sanitize(text, 200));
    if (!port.empty()) port.remove_prefix(1);
  } else {
    const std::size_t colon = place.find(':');
    url.host = place.substr(0, colon);
    if (colon != std::string_view::npos) port = place.substr(colon + 1);
  }
  if (url.host.empty())
    return fail(ErrorCode::invalid_input, "'{}' names no host", sanitize(text, 200));
  if (!port.empty()) {
    ASSAY_TRY(url.port, read_port(port));
  }
  return url;
}

}  // namespace assay::net
