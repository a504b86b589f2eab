#pragma once

// What every request meets, whoever answers it: the gate, its name, and its line in the log.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/net/server.h"
#include "assay/serve/access.h"
#include "assay/serve/answer_pieces.h"
#include "assay/serve/routes.h"

namespace assay::serve {

// A request as the log and its answer name it.
struct Visit {
  std::string request_id, method, path;
  std::int64_t accepted_ns = 0;
  int status = 0;
  std::string origin;  // Of the page that asks, if it may; empty: no page.
};

struct DeskOptions {
  Site site;
  std::optional<ApiKey> key;
  std::vector<std::string> origins;
  bool no_retries = false;  // Clients are told not to try again on their own.
  // Gets whole lines of JSON, without prompts, texts or keys; may be empty.
  std::function<void(std::string_view)> access_log;
};

class Desk {
 public:
  explicit Desk(DeskOptions options);

  void drain() { draining_ = true; }  // All but health and metrics is refused.
  bool draining() const { return draining_; }
  const Site& site() const { return options_.site; }
  std::string new_id();

  Visit receive(const net::Request& request);
  // The answer to a request that does not come in, and to a browser that asks whether a page's
  // request would.
  std::optional<net::Response> refuse(const net::Request& request, const RouteMatch& match) const;
  // The answer to what broke a transport rule.
  net::Response turn_away(const net::Refusal& refusal);
  void decorate(net::Response& response, const Visit& visit) const;
  void log(const Visit& visit, const Usage& usage, std::string_view ending) const;

 private:
  std::optional<ApiError> error_of(const net::Request& request, const RouteMatch& match) const;

  DeskOptions options_;
  Gate gate_;
  std::uint64_t ids_made_ = 0;
  std::string id_prefix_;  // No two runs have the same.
  bool draining_ = false;
};

// Who answers: a service of our own, or one that stands before another server.
class FrontEnd : public net::Handler {
 public:
  virtual void drain() = 0;                // New requests for text are refused.
  virtual std::size_t active() const = 0;  // Answers under way.
  bool at_rest() const { return active() == 0; }
};

}  // namespace assay::serve
