#pragma once

// Messages to and from a child without ever waiting for it: a thread reads, another writes.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/json.h"
#include "assay/base/message_channel.h"
#include "assay/base/result.h"

namespace assay::serve {

class ChildLink {
 public:
  // `channel`: our end. `wake_fd`: an eventfd that is written when something has come; it stays the
  // caller's, and open for longer than this.
  static Result<std::unique_ptr<ChildLink>> open(MessageChannel channel, int wake_fd);
  ~ChildLink();  // Nothing more goes or comes.

  void send(Json message);
  // What has come is appended. False: no more will.
  bool take(std::vector<Json>& messages);

 private:
  ChildLink(MessageChannel reads, MessageChannel writes, int wake_fd);
  void read();
  void write();
  void wake() const;

  MessageChannel reads_, writes_;
  int wake_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Json> to_send_;
  std::vector<Json> received_;
  bool ended_ = false, closing_ = false;
  std::thread reader_, writer_;
};

}  // namespace assay::serve
