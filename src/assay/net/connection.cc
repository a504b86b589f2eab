#include "assay/net/connection.h"

#include <charconv>
#include <limits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include "assay/base/clock.h"

namespace assay::net {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostPipelined = 64 << 10;
constexpr std::size_t kMostJoined = 1 << 20;  // Kept for the next write.
constexpr double kLingerSeconds = 2;          // For a peer to read an answer that closes.

}  // namespace

Connection::Connection(Socket socket, Host& host)
    : socket_(std::move(socket)), host_(host), reader_(host.options().limits) {
  Code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

void Connection::start() {
  set_deadline(host_.options().idle_seconds);
  wait_readable();
}

void Connection::set_deadline(double seconds) {
  deadline_ns_ = monotonic_ns() + static_cast<std::int64_t>(seconds * kNsPerSecond);
}

void Connection::wait_readable() {
  if (read_waits_ || finished_ || state_ == State::closed) return;
  if (pipelined_.size() >= kMostPipelined) return;
  read_waits_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const Code& error) {
    self->read_waits_ = false;
    if (!error) self->readable();
  });
}

void Connection::readable() {
  if (state_ == State::closed) return;
  Code error;
  std::string& buffer = host_.read_buffer();
  const std::size_t size = socket_.read_some(asio::buffer(buffer), error);
  if (error == asio::error::eof) return peer_finished();
  if (error && error != asio::error::would_block && error != asio::error::interrupted)
    return broken();
  if (!error) take(std::string_view(buffer).substr(0, size));
  wait_readable();
}

void Connection::take(std::string_view bytes) {
  if (state_ == State::answering) pipelined_.append(bytes);
  if (state_ == State::reading) feed(bytes);
}

// Requests are answered in order, each before the next is read.
void Connection::feed(std::string_view bytes) {
  feeding_ = true;
  while (state_ == State::reading && !bytes.empty()) {
    const bool begun = reader_.begun();
    bytes.remove_prefix(reader_.take(bytes));
    const auto state = reader_.state();
    if (state == RequestReader::State::refused) {
      refuse(reader_.refusal());
    } else if (state == RequestReader::State::done) {
      dispatch();
    } else if (state == RequestReader::State::body) {
      if (reader_.take_expectation()) write("HTTP/1.1 100 Continue\r\n\r\n");
      if (!begun || deadline_in_head_) set_deadline(host_.options().body_seconds);
      deadline_in_head_ = false;
      if (!count_body(reader_.body_bytes()))
        refuse({503, "This server receives as many bytes of requests as it takes."});
    } else if (!begun && reader_.begun()) {
      set_deadline(host_.options().head_seconds);
      deadline_in_head_ = true;
    }
  }
  if (state_ == State::answering) pipelined_.assign(bytes);
  feeding_ = false;
}

bool Connection::count_body(std::size_t bytes) {
  host_.unfinished_bytes() += bytes - counted_;
  counted_ = bytes;
  return host_.unfinished_bytes() <= host_.options().unfinished_bytes;
}

void Connection::dispatch() {
  count_body(0);
  Request request = reader_.release();
  state_ = State::answering;
  deadline_ns_ = kNever;
  deadline_in_head_ = false;
  keep_alive_ = request.keeps_alive();
  old_peer_ = request.minor == 0;
  head_only_ = request.method == "HEAD";
  streaming_ = ending_ = held_ = false;
  exchange_ = host_.opened(shared_from_this());
  host_.handler().on_request(exchange_, std::move(request));
}

// A FIN alone does not tell a peer that left from one that has only said all: a write does.
void Connection::peer_finished() {
  finished_ = true;
  if (state_ != State::answering) return close(false);
  keep_alive_ = false;
  if (!streaming_) set_deadline(host_.options().half_closed_seconds);
  if (streaming_ && waiting_.empty()) await_stream();
}

// What comes next of a stream may take long, unless nobody may be there to read it.
void Connection::await_stream() {
  deadline_ns_ = kNever;
  if (finished_) set_deadline(host_.options().reader_seconds);
}

void Connection::refuse(const Refusal& refusal) {
  count_body(0);
  keep_alive_ = false;
  state_ = State::answering;
  head_only_ = false;
  ending_ = held_ = streaming_ = false;
  answer(host_.handler().on_refusal(refusal));
  reader_.release();  // What it has read of the request.
}

void Connection::answer(const Response& response) {
  if (state_ != State::answering) return;
  keep_alive_ = keep_alive_ && !host_.draining();
  ending_ = true;
  const std::string head =
      response_head(response, Framing::length, response.body.size(), keep_alive_);
  write(head, head_only_ ? std::string_view() : std::string_view(response.body));
}

void Connection::begin(const Response& head) {
  if (state_ != State::answering) return;
  streaming_ = true;
  chunked_ = !old_peer_;
  keep_alive_ = keep_alive_ && chunked_ && !host_.draining();
  if (finished_ && waiting_.empty()) await_stream();
  // It goes with the first bytes: one write less for every stream.
  waiting_head_ = response_head(head, chunked_ ? Framing::chunked : Framing::close, 0, keep_alive_);
}

bool Connection::send(std::string_view bytes) {
  if (state_ != State::answering || bytes.empty()) return true;
  char size[24];
  std::string_view before;
  if (chunked_) {
    char* end = std::to_chars(size, size + sizeof size - 2, bytes.size(), 16).ptr;
    *end++ = '\r';
    *end++ = '\n';
    before = {size, static_cast<std::size_t>(end - size)};
  }
  if (!waiting_head_.empty()) {
    const std::string head = std::exchange(waiting_head_, {}).append(before);
    write(head, bytes, chunked_ ? "\r\n" : "");
  } else {
    write(before, bytes, chunked_ ? "\r\n" : "");
  }
  if (waiting_.size() > host_.options().held_bytes) held_ = true;
  return !held_;
}

void Connection::end() {
  if (state_ != State::answering) return;
  ending_ = true;
  std::string last = std::exchange(waiting_head_, {});
  if (chunked_) last += "0\r\n\r\n";
  if (last.empty() && waiting_.empty()) return answered();
  write(last);
}

// Parts are copied together: of such sizes the system takes longer for a list of parts.
void Connection::write(std::string_view first, std::string_view second, std::string_view third) {
  const bool began = waiting_.empty();
  if (began) {
    std::string& all = host_.joined();
    all.assign(first).append(second).append(third);
    const std::size_t done = write_now(all);
    if (state_ != State::closed) waiting_.assign(all, done);
    if (all.capacity() > kMostJoined) all = {};
    if (state_ == State::closed) return;
    if (waiting_.empty()) return written();
    set_deadline(host_.options().reader_seconds);
  } else {
    waiting_.append(first).append(second).append(third);
  }
  wait_writable();
}

// As much as the system takes at once; what fails closes the connection.
std::size_t Connection::write_now(std::string_view bytes) {
  Code error;
  const std::size_t done = socket_.write_some(asio::buffer(bytes), error);
  if (error && error != asio::error::would_block && error != asio::error::interrupted) broken();
  return error ? 0 : done;
}

void Connection::wait_writable() {
  if (write_waits_ || state_ == State::closed) return;
  write_waits_ = true;
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const Code& error) {
    self->write_waits_ = false;
    if (!error) self->writable();
  });
}

void Connection::writable() {
  if (state_ == State::closed) return;
  const std::size_t done = write_now(waiting_);
  if (state_ == State::closed) return;
  if (done > 0) set_deadline(host_.options().reader_seconds);
  waiting_.erase(0, done);
  if (!waiting_.empty()) return wait_writable();
  waiting_.shrink_to_fit();
  written();
}

void Connection::written() {
  if (state_ == State::answering && ending_) return answered();
  if (state_ != State::answering) return;
  if (streaming_) await_stream();
  if (std::exchange(held_, false)) host_.handler().on_room(exchange_);
}

void Connection::answered() {
  host_.ended(std::exchange(exchange_, 0));
  if (!keep_alive_) return linger();
  state_ = State::reading;
  set_deadline(host_.options().idle_seconds);
  if (host_.draining()) return close(false);
  if (feeding_) return;
  if (pipelined_.empty()) return wait_readable();
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->state_ != State::reading) return;
    self->feed(std::exchange(self->pipelined_, {}));
    self->wait_readable();
  });
}

// What a peer still sends is read and dropped: a reset could overtake the answer.
void Connection::linger() {
  if (finished_) return close(false);
  state_ = State::closing;
  pipelined_ = {};
  Code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  set_deadline(kLingerSeconds);
  wait_readable();
}

void Connection::abandon() {
  host_.ended(std::exchange(exchange_, 0));
  close(true);
}

void Connection::broken() {
  if (state_ == State::closed) return;
  const ExchangeId exchange = std::exchange(exchange_, 0);
  close(true);
  if (exchange == 0) return;
  host_.ended(exchange);
  // The handler may be the caller, in the middle of a send.
  asio::post(socket_.get_executor(),
             [self = shared_from_this(), exchange] { self->host_.handler().on_gone(exchange); });
}

void Connection::drain() {
  if (state_ == State::reading && !reader_.begun()) close(false);
}

void Connection::meet_deadline() {
  if (state_ == State::closed) return;
  if (state_ == State::reading && reader_.begun())
    return refuse({408, "The request took longer than this server waits."});
  if (state_ == State::answering) return broken();
  close(false);
}

void Connection::close(bool reset) {
  if (state_ == State::closed) return;
  state_ = State::closed;
  count_body(0);
  Code ignored;
  if (reset) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
  waiting_ = pipelined_ = {};
  host_.closed(*this);
}

}  // namespace assay::net
