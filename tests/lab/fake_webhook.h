#pragma once

// A server on this machine that plays Discord: it keeps what it is sent, and answers as told.

#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "assay/net/server.h"

namespace assay::lab_tests {

class FakeWebhook final : public net::Handler {
 public:
  FakeWebhook() {
    net::ServerOptions options;
    options.port = 0;
    server_ = net::Server::listen(options, *this).value();
    thread_ = std::thread([this] { server_->run(); });
  }
  ~FakeWebhook() override {
    server_->stop();
    thread_.join();
  }

  int port() const { return server_->port(); }
  std::string url() const {
    return fmt::format("http://127.0.0.1:{}/api/webhooks/1/s3cret", port());
  }
  // The next answers, one each; behind them, messages are stored.
  void answer_next(std::vector<net::Response> answers) {
    const std::scoped_lock lock(mutex_);
    answers_.assign(answers.begin(), answers.end());
  }
  // What came since this was asked last.
  std::vector<net::Request> take_requests() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(requests_, {});
  }

  void on_request(net::ExchangeId exchange, net::Request request) override {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(std::move(request));
    net::Response response{200, {{"content-type", "application/json"}}, R"({"id":"1"})"};
    if (!answers_.empty()) {
      response = answers_.front();
      answers_.pop_front();
    }
    if (response.status != kSilent) server_->answer(exchange, response);
  }
  void on_gone(net::ExchangeId) override {}
  void on_room(net::ExchangeId) override {}
  void on_time() override {}
  net::Response on_refusal(const net::Refusal& refusal) override {
    return {refusal.status, {}, ""};
  }

  static constexpr int kSilent = 0;  // No answer at all.

 private:
  std::unique_ptr<net::Server> server_;
  std::mutex mutex_;
  std::deque<net::Response> answers_;
  std::vector<net::Request> requests_;
  std::thread thread_;
};

}  // namespace assay::lab_tests
