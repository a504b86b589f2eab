#pragma once

// One call that is under way. Included by net's sources alone: it brings Boost.Asio.

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "assay/net/call.h"

namespace assay::net {

class OpenCall : public std::enable_shared_from_this<OpenCall> {
 public:
  // `buffer`: for what is read, used at once. `ended` forgets the call.
  OpenCall(boost::asio::io_context& context, CallId id, CallHandler& by, std::string& buffer,
           std::function<void(CallId)> ended);

  void start(std::uint16_t port, std::string request, double seconds);
  void hold(bool held);
  void close();

 private:
  void send();
  void wait_readable();
  void readable();
  void take(std::string_view bytes);
  bool tell_head();
  void fail(std::string_view why);

  CallId id_;
  CallHandler& by_;
  std::string& buffer_;
  std::function<void(CallId)> ended_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer limit_;
  ResponseReader reader_;
  std::string request_;
  bool head_told_ = false, held_ = false, waits_ = false, closed_ = false;
};

}  // namespace assay::net
