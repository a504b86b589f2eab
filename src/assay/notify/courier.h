#pragma once

// Sends messages to a webhook, within a time that counts for all of them together. Certificates
// are verified, and no redirect is followed.

#include <cstdint>
#include <string>

#include "assay/notify/message.h"

namespace assay::notify {

struct CourierOptions {
  double seconds = 15;         // For everything that a courier sends, waits included.
  double try_seconds = 10;     // For one request and its answer.
  double connect_seconds = 5;  // Of those.
  int tries = 3;               // Of a message.
  std::string ca_file;         // Whom to trust, in PEM; empty: whom the system trusts.
  std::string user_agent;      // Services refuse requests without one.
  int cancel_fd = -1;
};

// What became of a message.
struct Delivery {
  bool attempted = false;  // A request left.
  bool sent = false;       // And was taken.
  bool later = false;      // It may get through another time.
  std::string status;      // "sent", "timeout", "rate_limited", "http_401" ... (docs/lab.md)
  std::string reason;      // A sentence; may be empty.
};

class Courier {
 public:
  Courier(Webhook webhook, CourierOptions options);

  Delivery deliver(const Message& message);
  // Whether the webhook is there, by a GET that sends nothing. `sent`: it is.
  Delivery probe();

  const Webhook& webhook() const { return webhook_; }
  double seconds_left() const;

 private:
  struct Try;
  Delivery send(const std::string& method, const std::string& content_type,
                const std::string& body);
  Try try_once(const std::string& method, const std::string& content_type, const std::string& body);
  bool wait(double seconds) const;  // False: that is more time than is left, or a stop was asked.

  Webhook webhook_;
  CourierOptions options_;
  std::int64_t deadline_ns_ = 0;
  std::int64_t not_before_ns_ = 0;  // By the service's rate limit.
};

}  // namespace assay::notify
