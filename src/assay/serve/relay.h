#pragma once

// Answers with what another server answers, which it keeps running: requests go on re-serialised,
// bodies of answers come back byte for byte. It restarts a server that ends, with a growing pause,
// and gives up after some vain starts in a row.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "assay/net/server.h"
#include "assay/serve/desk.h"
#include "assay/serve/metrics.h"
#include "assay/serve/restarts.h"
#include "assay/serve/upstream.h"

namespace assay::serve {

class Relay final : public FrontEnd, private net::CallHandler {
 public:
  // `gave_up` is called once, when the upstream would not stay up.
  Relay(DeskOptions options, Upstream upstream, std::function<void()> gave_up);

  // Before anything is asked; the upstream starts.
  void attach(net::Outlet& outlet, net::Caller& caller);
  void drain() override { desk_.drain(); }
  std::size_t active() const override { return active_.size(); }
  void stop() { upstream_.program().stop(); }
  // Why it gave up, with the end of what the upstream said; empty while it has not.
  const std::string& failure() const { return failure_; }

  void on_request(net::ExchangeId exchange, net::Request request) override;
  void on_gone(net::ExchangeId exchange) override;
  void on_room(net::ExchangeId exchange) override;
  void on_time() override;
  net::Response on_refusal(const net::Refusal& refusal) override {
    return desk_.turn_away(refusal);
  }

 private:
  enum class State { starting, ready, waiting, given_up };
  struct Active {
    net::ExchangeId exchange = 0;
    Visit visit;
    net::Response response;                  // What is told so far, or in the end.
    std::optional<net::Response> otherwise;  // The answer if the upstream's is none.
    std::string last_bytes;                  // Of a stream: does it stand at the end of a frame?
    bool streams = false, begun = false;
  };

  void on_head(net::CallId call, const net::ResponseHead& head) override;
  void on_body(net::CallId call, std::string_view bytes) override;
  void on_end(net::CallId call) override;
  void on_failed(net::CallId call, std::string_view why) override;

  std::optional<net::Response> own_answer(const net::Request& request, const RouteMatch& match);
  std::optional<net::Response> fallback(const net::Request& request, const RouteMatch& match) const;
  Outcome<std::string> passed_on(const net::Request& request, const Visit& visit) const;
  net::Response not_ready();
  std::string reason(std::string_view what);
  void respond(net::ExchangeId exchange, Visit& visit, net::Response response,
               std::string_view ending);
  void forget(net::CallId call, std::string_view ending);
  void look_at_upstream();
  void ask_health();
  void heard_of_health(bool ready);
  void start();
  void start_failed(std::string_view why);

  Desk desk_;
  Upstream upstream_;
  std::function<void()> gave_up_;
  net::Outlet* outlet_ = nullptr;
  net::Caller* caller_ = nullptr;
  State state_ = State::waiting;
  Restarts restarts_;
  std::int64_t started_ns_ = 0, asked_ns_ = 0;
  net::CallId health_ = 0;  // The question that is open; 0: none.
  int health_status_ = 0;
  std::string failure_, ended_;
  std::unordered_map<net::CallId, Active> active_;
  std::unordered_map<net::ExchangeId, net::CallId> calls_;
  Metrics metrics_;
};

}  // namespace assay::serve
