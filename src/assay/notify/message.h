#pragma once

// A notification in the form of a service: Discord's embed, Slack's text, or JSON of our own.

#include <string>

#include "assay/notify/notification.h"
#include "assay/notify/webhook.h"

namespace assay::notify {

struct Message {
  std::string content_type, body;
};

// `png`: a drawing to attach, where the service takes one; may be empty. Texts of users are cut to
// the service's limits, and their markup is made plain; nobody is mentioned.
Message message_of(Preset preset, const Notification& notification, const std::string& png);

}  // namespace assay::notify
