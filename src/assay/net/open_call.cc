#include "assay/net/open_call.h"

#include <chrono>
#include <utility>

#include <boost/asio/write.hpp>

namespace assay::net {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using asio::ip::tcp;

}  // namespace

OpenCall::OpenCall(asio::io_context& context, CallId id, CallHandler& by, std::string& buffer,
                   std::function<void(CallId)> ended)
    : id_(id),
      by_(by),
      buffer_(buffer),
      ended_(std::move(ended)),
      socket_(context),
      limit_(context) {}

void OpenCall::start(std::uint16_t port, std::string request, double seconds) {
  request_ = std::move(request);
  if (seconds > 0) {
    limit_.expires_after(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
    limit_.async_wait([self = shared_from_this()](const Code& error) {
      if (!error) self->fail("it took too long");
    });
  }
  socket_.async_connect(tcp::endpoint(asio::ip::address_v4::loopback(), port),
                        [self = shared_from_this()](const Code& error) {
                          if (self->closed_) return;
                          if (error) return self->fail(error.message());
                          self->send();
                        });
}

// An answer may come, and the peer close, before it has read everything.
void OpenCall::send() {
  Code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
  wait_readable();
  asio::async_write(socket_, asio::buffer(request_),
                    [self = shared_from_this()](const Code&, std::size_t) {});
}

void OpenCall::hold(bool held) {
  held_ = held;
  if (!held_) wait_readable();
}

void OpenCall::wait_readable() {
  if (waits_ || held_ || closed_) return;
  waits_ = true;
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const Code& error) {
    self->waits_ = false;
    if (error || self->closed_ || self->held_) return;
    self->readable();
  });
}

void OpenCall::readable() {
  Code error;
  const std::size_t size = socket_.read_some(asio::buffer(buffer_), error);
  if (error == asio::error::would_block || error == asio::error::interrupted)
    return wait_readable();
  if (error) {
    reader_.finish();
    if (error != asio::error::eof || reader_.state() != ResponseReader::State::done)
      return fail(error == asio::error::eof ? "it closed the connection" : error.message());
  } else {
    take(std::string_view(buffer_).substr(0, size));
  }
  if (closed_ || !tell_head()) return wait_readable();
  if (reader_.state() == ResponseReader::State::refused) return fail(reader_.refusal());
  if (reader_.state() != ResponseReader::State::done) return wait_readable();
  const auto self = shared_from_this();
  close();
  by_.on_end(id_);
}

void OpenCall::take(std::string_view bytes) {
  std::string body;
  reader_.take(bytes, body);
  if (!tell_head() || body.empty()) return;
  by_.on_body(id_, body);
}

// False while there is none, or nobody who would hear it.
bool OpenCall::tell_head() {
  if (!reader_.has_head() && reader_.state() != ResponseReader::State::refused) return false;
  if (reader_.has_head() && !std::exchange(head_told_, true)) by_.on_head(id_, reader_.head());
  return !closed_;
}

void OpenCall::fail(std::string_view why) {
  if (closed_) return;
  const auto self = shared_from_this();
  close();
  by_.on_failed(id_, why);
}

void OpenCall::close() {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  Code ignored;
  limit_.cancel();
  socket_.close(ignored);
  ended_(id_);
}

}  // namespace assay::net
