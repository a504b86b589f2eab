#pragma once

// When a request is sent again that a server refused for now.

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::load {

// None: its status is no refusal for now (429, 503). Else how long to wait: what Retry-After says,
// at most a minute, or 0.5 s doubling to 8 s. sent: how many times it was sent again already.
std::optional<std::int64_t> retry_delay_ns(int status, std::string_view retry_after, int sent);

}  // namespace assay::load
