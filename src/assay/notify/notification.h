#pragma once

// What somebody is told, before it has the form of any service.

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::notify {

inline constexpr std::string_view kNotificationSchema = "assay.notification/1";

struct Notification {
  std::string event;  // "baseline", "keep", "discard", "crash", "end", "test" ...
  std::string case_name, run_tag, state, description;
  std::int64_t attempt = 0;  // Its number; 0: of no attempt.
  std::string reason;
  std::string primary, claim, best;  // As users read them: "80.0 us"; may be empty.
  std::string at;                    // When it happened, in UTC.
};

Json to_json(const Notification& notification);
Result<Notification> read_notification(const Json& json);

}  // namespace assay::notify
