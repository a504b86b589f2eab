#pragma once

// Where somebody is told of an attempt. A webhook's URL is a secret: nothing here repeats more of
// it than its host.

#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/net/url.h"

namespace assay::notify {

enum class Preset { discord, slack, json };
std::string_view to_string(Preset preset);
Result<Preset> parse_preset(std::string_view text);

struct Webhook {
  net::Url url;
  std::string query;  // Behind '?', such as "thread_id=1"; may be empty.
  Preset preset = Preset::discord;

  std::string path(std::string_view more_query = {}) const;  // What a request names.
  std::string identity() const;  // A digest: tells webhooks apart, and shows nothing of them.
};

// "https://host/path". Plain http is taken to this machine alone. Errors: invalid_input.
Result<Webhook> parse_webhook(std::string_view text, Preset preset);

// "https://discord.com/…": what may be shown.
std::string masked(std::string_view url);

}  // namespace assay::notify
