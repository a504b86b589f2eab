#pragma once

// What was not sent waits in a file, and is sent with what comes next; and which webhooks are gone.

#include <filesystem>
#include <vector>

#include "assay/notify/courier.h"

namespace assay::notify {

class Outbox {
 public:
  // `waiting`: the file; `dead`: a folder with one empty file for each webhook that is gone.
  Outbox(std::filesystem::path waiting, std::filesystem::path dead)
      : waiting_(std::move(waiting)), dead_(std::move(dead)) {}

  Result<std::vector<Notification>> waiting() const;  // The oldest first.
  Status keep(const Notification& notification);      // Beyond 100, the oldest is left out.
  bool is_dead(const Webhook& webhook) const;
  std::filesystem::path dead_mark(const Webhook& webhook) const;

  // Tells a notification, and then what waits, as long as there is time. A failure is a delivery;
  // an error is a file that cannot be written.
  Result<Delivery> tell(Courier& courier, const Notification& notification, const std::string& png);
  struct Flushed {
    int sent = 0, left = 0;
    Delivery last;
  };
  Result<Flushed> flush(Courier& courier);

 private:
  Status write(const std::vector<Notification>& waiting) const;
  Status note_dead(const Webhook& webhook, const Delivery& delivery) const;

  std::filesystem::path waiting_, dead_;
};

}  // namespace assay::notify
