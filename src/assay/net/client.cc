#include "assay/net/client.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <netdb.h>
#include <optional>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/text.h"
#include "assay/net/tls.h"

namespace assay::net {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr int kEventsATime = 256;
constexpr std::int64_t kOffsetValidNs = 10 * kNsPerMs;
constexpr int kOffsetReadings = 5;
constexpr std::int64_t kNarrowNs = 1000;
constexpr std::uint64_t kTimerKey = 1, kWatchedKey = 2, kFirstKey = 16;

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

// What must be taken off a time of the wall clock, in which the kernel stamps.
class WallOffset {
 public:
  std::int64_t at(std::int64_t now_ns) {
    if (now_ns - read_at_ns_ > kOffsetValidNs) read(now_ns);
    return offset_;
  }

 private:
  // A thread that is put aside between the readings is wrong by half of its pause: of a few
  // readings the narrowest counts.
  void read(std::int64_t now_ns) {
    std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < kOffsetReadings && narrowest > kNarrowNs; ++i) {
      const std::int64_t before = clock_ns(CLOCK_MONOTONIC);
      const std::int64_t wall = clock_ns(CLOCK_REALTIME);
      const std::int64_t width = clock_ns(CLOCK_MONOTONIC) - before;
      if (width >= narrowest) continue;
      narrowest = width;
      offset_ = wall - (before + width / 2);
    }
    read_at_ns_ = now_ns;
  }

  std::int64_t offset_ = 0, read_at_ns_ = std::numeric_limits<std::int64_t>::min() / 2;
};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<Address> look_up(const Url& server) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(server.port);
  const int error = ::getaddrinfo(server.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0)
    return fail(ErrorCode::invalid_input, "the host '{}' is not known: {}",
                sanitize(server.host, 200), ::gai_strerror(error));
  // Servers on loopback listen to IPv4 more often than to IPv6.
  const addrinfo* chosen = found;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next)
    if (each->ai_family == AF_INET) {
      chosen = each;
      break;
    }
  Address address;
  std::memcpy(&address.storage, chosen->ai_addr, chosen->ai_addrlen);
  address.size = chosen->ai_addrlen;
  ::freeaddrinfo(found);
  return address;
}

struct Link {
  UniqueFd fd;
  bool connecting = true, shaking_hands = false, awaiting = false, watches_writes = false;
  bool spoke_first = false;  // Bytes lay there before the request left: no answer to it.
  std::int64_t deadline_ns = 0;
  std::string waiting;  // To be sent.
  ResponseReader reader;
  std::unique_ptr<TlsSession> tls;
};

}  // namespace

class Client::Impl {
 public:
  Impl(Address address, const Url& server, const ClientOptions& options, ClientHandler& handler)
      : address_(address), server_(server), options_(options), handler_(handler) {
    buffer_.resize(kReadBytes);
  }

  Status prepare() {
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!epoll_ || !timer_)
      return fail(ErrorCode::machine, "cannot make a timer: {}", errno_text(errno));
    if (server_.tls) {
      ASSAY_TRY(tls_, TlsContext::create(options_.ca_file));
    }
    return add(timer_.get(), EPOLLIN, kTimerKey);
  }

  Result<ConnectionId> connect() {
    Link link;
    link.fd.reset(
        ::socket(address_.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!link.fd) return fail(ErrorCode::machine, "cannot open a socket: {}", errno_text(errno));
    const int on = 1;
    ::setsockopt(link.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(link.fd.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    const int made = ::connect(link.fd.get(), reinterpret_cast<const sockaddr*>(&address_.storage),
                               address_.size);
    const int error = made == 0 ? 0 : errno;
    if (error == EADDRNOTAVAIL || error == EAGAIN)
      return fail(ErrorCode::machine, "no port is left to connect from: {}", errno_text(error));
    const ConnectionId id = next_id_++;
    link.watches_writes = true;
    // Whatever else fails is told by the socket's error, once it is looked at.
    if (error != 0 && error != EINPROGRESS) refused_.emplace_back(id, error);
    ASSAY_TRY(add(link.fd.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP, id));
    link.deadline_ns =
        monotonic_ns() + static_cast<std::int64_t>(options_.connect_seconds * kNsPerSecond);
    connecting_.push_back(id);
    links_.emplace(id, std::move(link));
    return id;
  }

  std::int64_t send(ConnectionId id, std::string_view request) {
    const auto found = links_.find(id);
    if (found == links_.end()) return monotonic_ns();
    Link& link = found->second;
    link.spoke_first = has_unread(link);
    const std::int64_t now = monotonic_ns();
    link.awaiting = true;
    link.reader.reset();
    if (link.tls) {
      if (!link.tls->encrypt(request)) return now;
      link.waiting += link.tls->take_outgoing();
      flush(id, link);
      return now;
    }
    std::size_t done = 0;
    if (link.waiting.empty()) {
      const ssize_t sent = ::send(link.fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
      if (sent > 0) done = static_cast<std::size_t>(sent);
    }
    if (done < request.size()) {
      link.waiting.append(request.substr(done));
      watch_writes(id, link, true);
    }
    return now;
  }

  void close(ConnectionId id) { links_.erase(id); }
  std::size_t connections() const { return links_.size(); }

  void wake_at(std::int64_t at_ns) {
    if (at_ns == wake_at_ns_) return;
    wake_at_ns_ = at_ns;
    itimerspec spec{};
    // Zero would disarm it.
    const std::int64_t at = std::max<std::int64_t>(at_ns, 1);
    spec.it_value.tv_sec = at / kNsPerSecond;
    spec.it_value.tv_nsec = at % kNsPerSecond;
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
  }

  Status watch(int fd, std::function<void()> readable) {
    const std::uint64_t key = kWatchedKey + watched_.size();
    if (key >= kFirstKey) return fail(ErrorCode::internal, "too many descriptors are watched");
    watched_.push_back(std::move(readable));
    return add(fd, EPOLLIN, key);
  }

  Status run() {
    std::array<epoll_event, kEventsATime> events;
    running_ = true;
    while (running_) {
      const int timeout = !refused_.empty() ? 0 : connecting_.empty() ? -1 : 100;
      const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsATime, timeout);
      if (count < 0 && errno != EINTR)
        return fail(ErrorCode::machine, "cannot wait for the network: {}", errno_text(errno));
      // The timer first, and again as soon as it is due: what is to be sent does not wait for what
      // came.
      for (int i = 0; i < count && running_; ++i)
        if (events[static_cast<std::size_t>(i)].data.u64 == kTimerKey) timed();
      for (int i = 0; i < count && running_; ++i) {
        if (wake_at_ns_ != 0 && monotonic_ns() >= wake_at_ns_) ring();
        if (running_) serve(events[static_cast<std::size_t>(i)]);
      }
      if (running_) look_after_connecting();
    }
    return {};
  }
  void stop() { running_ = false; }

 private:
  Status add(int fd, std::uint32_t events, std::uint64_t key) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return fail(ErrorCode::machine, "cannot watch a descriptor: {}", errno_text(errno));
    return {};
  }

  void watch_writes(ConnectionId id, Link& link, bool on) {
    if (link.watches_writes == on) return;
    link.watches_writes = on;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | (on ? EPOLLOUT : 0U);
    event.data.u64 = id;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, link.fd.get(), &event);
  }

  void timed() {
    std::uint64_t times = 0;
    if (::read(timer_.get(), &times, sizeof times) >= 0) ring();
  }

  void ring() {
    wake_at_ns_ = 0;
    handler_.on_time();
  }

  // Of TLS, records of its own may lie there before a request as well.
  static bool has_unread(const Link& link) {
    char byte = 0;
    return !link.tls && ::recv(link.fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }

  void serve(const epoll_event& event) {
    const std::uint64_t key = event.data.u64;
    if (key == kTimerKey) return;
    if (key < kFirstKey) return watched_[key - kWatchedKey]();
    const auto found = links_.find(key);
    if (found == links_.end()) return;
    Link& link = found->second;
    if (link.connecting) {
      if (event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) connected(key, link);
      return;
    }
    if ((event.events & EPOLLOUT) != 0 && !flush(key, link)) return;
    if (event.events & (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP)) read(key, link);
  }

  void connected(ConnectionId id, Link& link) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(link.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return lose(id, connect_error(error));
    link.connecting = false;
    if (!tls_) return ready(id, link);
    link.tls = tls_->open(server_.host);
    if (!link.tls) return lose(id, {ErrorCode::machine, "TLS: no memory is left"});
    link.shaking_hands = true;
    shake_hands(id, link);
  }

  void ready(ConnectionId id, Link& link) {
    std::erase(connecting_, id);
    watch_writes(id, link, !link.waiting.empty());
    handler_.on_connected(id);
  }

  void shake_hands(ConnectionId id, Link& link) {
    const Result<bool> done = link.tls->shake_hands();
    link.waiting += link.tls->take_outgoing();
    if (!done) return lose(id, done.error());
    if (!flush(id, link) || !*done) return;
    link.shaking_hands = false;
    ready(id, link);
  }

  // False: the connection is lost.
  bool flush(ConnectionId id, Link& link) {
    while (!link.waiting.empty()) {
      const ssize_t sent =
          ::send(link.fd.get(), link.waiting.data(), link.waiting.size(), MSG_NOSIGNAL);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR)) break;
      // Why it failed is read; an answer may have come before.
      if (sent < 0) {
        link.waiting.clear();
        break;
      }
      link.waiting.erase(0, static_cast<std::size_t>(sent));
    }
    watch_writes(id, link, !link.waiting.empty());
    return true;
  }

  void read(ConnectionId id, Link& link) {
    Arrival arrival;
    alignas(cmsghdr) std::array<char, 128> control;
    iovec part{buffer_.data(), buffer_.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(link.fd.get(), &message, 0);
    const int error = size < 0 ? errno : 0;
    arrival.read_ns = arrival.at_ns = monotonic_ns();
    if (error == EAGAIN || error == EINTR) return;
    if (size < 0) return lose(id, receive_error(error), arrival);
    if (size == 0) return finished(id, link, arrival);
    arrival.at_ns = stamp(message, arrival.read_ns);
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(size));
    if (!link.tls) return take(id, link, bytes, arrival);
    plain_.clear();
    const Result<bool> more = link.tls->decrypt(bytes, plain_);
    if (!more) return lose(id, more.error(), arrival);
    if (link.shaking_hands) return shake_hands(id, link);
    if (!plain_.empty()) take(id, link, plain_, arrival);
    const auto still = links_.find(id);
    if (!*more && still != links_.end()) finished(id, still->second, arrival);
  }

  std::int64_t stamp(msghdr& message, std::int64_t read_ns) {
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
         each = CMSG_NXTHDR(&message, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_TIMESTAMPNS) continue;
      timespec time{};
      std::memcpy(&time, CMSG_DATA(each), sizeof time);
      const std::int64_t at = time.tv_sec * kNsPerSecond + time.tv_nsec - offset_.at(read_ns);
      // A wall clock that was set in between would make nonsense of it.
      if (at <= read_ns && at > read_ns - 60 * kNsPerSecond) return at;
    }
    return read_ns;
  }

  void take(ConnectionId id, Link& link, std::string_view bytes, const Arrival& arrival) {
    if (!link.awaiting || link.spoke_first)
      return lose(id, {ErrorCode::failed, "the server sent bytes that nobody asked for"}, arrival);
    body_.clear();
    const std::size_t used = link.reader.take(bytes, body_);
    if (link.reader.has_head()) {
      handler_.on_body(id, link.reader.head(), body_, arrival);
      if (!links_.contains(id)) return;
    }
    if (link.reader.state() == ResponseReader::State::refused)
      return lose(id, {ErrorCode::failed, link.reader.refusal()}, arrival);
    if (link.reader.state() == ResponseReader::State::done)
      answered(id, link, used < bytes.size(), arrival);
  }

  void answered(ConnectionId id, Link& link, bool more, const Arrival& arrival) {
    link.awaiting = false;
    const bool stays = link.reader.head().keeps_alive() && !more;
    const ResponseHead head = link.reader.release_head();
    // The number is void before that is told, so that nobody sends over it.
    if (!stays) links_.erase(id);
    handler_.on_answer(id, head, stays, arrival);
  }

  void finished(ConnectionId id, Link& link, const Arrival& arrival) {
    if (!link.awaiting)
      return lose(id, {ErrorCode::failed, "the server closed the connection"}, arrival);
    link.reader.finish();
    if (link.reader.state() == ResponseReader::State::done)
      return answered(id, link, true, arrival);
    lose(id, {ErrorCode::failed, link.reader.refusal()}, arrival);
  }

  void lose(ConnectionId id, const Error& why, std::optional<Arrival> arrival = {}) {
    const auto found = links_.find(id);
    if (found == links_.end()) return;
    const bool awaited = found->second.awaiting;
    links_.erase(found);
    std::erase(connecting_, id);
    if (!arrival) {
      arrival.emplace();
      arrival->at_ns = arrival->read_ns = monotonic_ns();
    }
    handler_.on_closed(id, why, awaited, *arrival);
  }

  Error connect_error(int error) const {
    return {ErrorCode::failed,
            fmt::format("cannot connect to {}: {}", server_.authority(), errno_text(error))};
  }
  static Error receive_error(int error) {
    return {ErrorCode::failed, error == ECONNRESET
                                   ? std::string("the server reset the connection")
                                   : fmt::format("the connection broke: {}", errno_text(error))};
  }

  void look_after_connecting() {
    for (const auto& [id, error] : std::exchange(refused_, {})) lose(id, connect_error(error));
    if (connecting_.empty()) return;
    const std::int64_t now = monotonic_ns();
    const std::vector<ConnectionId> all = connecting_;
    for (const ConnectionId id : all) {
      const auto found = links_.find(id);
      if (found == links_.end())
        std::erase(connecting_, id);
      else if (now > found->second.deadline_ns)
        lose(id, {ErrorCode::failed, fmt::format("cannot connect to {} within {} s",
                                                 server_.authority(), options_.connect_seconds)});
    }
  }

  Address address_;
  Url server_;
  ClientOptions options_;
  ClientHandler& handler_;
  UniqueFd epoll_, timer_;
  std::unique_ptr<TlsContext> tls_;
  std::int64_t wake_at_ns_ = 0;
  std::vector<std::function<void()>> watched_;
  std::unordered_map<ConnectionId, Link> links_;
  std::vector<ConnectionId> connecting_;
  std::vector<std::pair<ConnectionId, int>> refused_;
  ConnectionId next_id_ = kFirstKey;
  WallOffset offset_;
  std::string buffer_, body_, plain_;
  bool running_ = false;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::create(const Url& server, const ClientOptions& options,
                                               ClientHandler& handler) {
  ASSAY_TRY(const Address address, look_up(server));
  auto impl = std::make_unique<Impl>(address, server, options, handler);
  ASSAY_TRY(impl->prepare());
  return std::unique_ptr<Client>(new Client(std::move(impl)));
}

Result<ConnectionId> Client::connect() { return impl_->connect(); }
std::int64_t Client::send(ConnectionId connection, std::string_view request) {
  return impl_->send(connection, request);
}
void Client::close(ConnectionId connection) { impl_->close(connection); }
std::size_t Client::connections() const { return impl_->connections(); }
void Client::wake_at(std::int64_t at_ns) { impl_->wake_at(at_ns); }
Status Client::watch(int fd, std::function<void()> readable) {
  return impl_->watch(fd, std::move(readable));
}
Status Client::run() { return impl_->run(); }
void Client::stop() { impl_->stop(); }

}  // namespace assay::net
