#include "assay/serve/child_link.h"

#include <cstdint>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace assay::serve {
namespace {

constexpr std::size_t kMostReceived = 4096;  // Messages; then the child waits.

}  // namespace

Result<std::unique_ptr<ChildLink>> ChildLink::open(MessageChannel channel, int wake_fd) {
  UniqueFd other(::dup(channel.fd()));
  if (!other) return fail(ErrorCode::machine, "there is no descriptor left: {}", errno_text(errno));
  return std::unique_ptr<ChildLink>(
      new ChildLink(std::move(channel), MessageChannel(std::move(other)), wake_fd));
}

ChildLink::ChildLink(MessageChannel reads, MessageChannel writes, int wake_fd)
    : reads_(std::move(reads)), writes_(std::move(writes)), wake_fd_(wake_fd) {
  reader_ = std::thread([this] { read(); });
  writer_ = std::thread([this] { write(); });
}

ChildLink::~ChildLink() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  ::shutdown(reads_.fd(), SHUT_RDWR);
  reader_.join();
  writer_.join();
}

void ChildLink::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_fd_, &one, sizeof one));
}

void ChildLink::read() {
  for (;;) {
    auto message = reads_.receive();
    if (!message) break;
    std::unique_lock lock(mutex_);
    received_.push_back(std::move(message->json));
    wake();
    changed_.wait(lock, [&] { return closing_ || received_.size() < kMostReceived; });
    if (closing_) return;
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake();
}

void ChildLink::write() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closing_ || !to_send_.empty(); });
    if (closing_) return;
    const Json message = std::move(to_send_.front());
    to_send_.pop_front();
    lock.unlock();
    if (!writes_.send(message)) return;  // The reader tells of it.
  }
}

void ChildLink::send(Json message) {
  {
    const std::lock_guard lock(mutex_);
    to_send_.push_back(std::move(message));
  }
  changed_.notify_all();
}

bool ChildLink::take(std::vector<Json>& messages) {
  bool more = true;
  {
    const std::lock_guard lock(mutex_);
    for (Json& message : received_) messages.push_back(std::move(message));
    received_.clear();
    more = !ended_;
  }
  changed_.notify_all();
  return more;
}

}  // namespace assay::serve
