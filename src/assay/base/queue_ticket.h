#pragma once

// A place in a queue of processes, first come, first served, with no process to keep it. A ticket
// is a lock on one byte of a file that all of them can open, and its number is the byte's. The
// kernel gives it back when its process ends, by whatever signal, so nobody waits for the dead.

#include <cstdint>
#include <string>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay {

class QueueTicket {
 public:
  // Behind every ticket that is held now. Errors: those of open_lock_file().
  static Result<QueueTicket> take(const std::string& path);

  // How many tickets before this one are held. Where the file system knows no such locks there is
  // no queue, and nobody is before anybody.
  int ahead() const;

  // The file, open; whoever holds the lock that the queue is for may have left a name in it.
  int descriptor() const { return fd_.get(); }

 private:
  QueueTicket(UniqueFd fd, std::int64_t number) : fd_(std::move(fd)), number_(number) {}
  UniqueFd fd_;
  std::int64_t number_ = 0;  // From 1 on; 0: there is no queue.
};

}  // namespace assay
