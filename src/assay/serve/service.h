#pragma once

// The server between sockets and a backend: lets requests in, starts their jobs, and writes what
// comes of them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/net/server.h"
#include "assay/serve/access.h"
#include "assay/serve/backend.h"
#include "assay/serve/metrics.h"
#include "assay/serve/routes.h"

namespace assay::serve {

struct ServiceOptions {
  Site site;
  std::optional<ApiKey> key;
  std::vector<std::string> origins;
  bool no_retries = false;                     // Clients are told not to try again on their own.
  std::int64_t outstanding_tokens = 16 << 20;  // Of all jobs, prompts and answers.
  // Each gets whole lines of JSON, without prompts, texts or keys; may be empty.
  std::function<void(std::string_view)> access_log, stamps;
};

class Service final : public net::Handler {
 public:
  Service(ServiceOptions options, std::unique_ptr<Backend> backend);

  void attach(net::Outlet& outlet) { outlet_ = &outlet; }  // Before anything is asked.
  void drain() { draining_ = true; }                       // New requests for text are refused.
  bool at_rest() const { return active_.empty(); }
  std::size_t active() const { return active_.size(); }
  const Backend& backend() const { return *backend_; }

  void on_request(net::ExchangeId exchange, net::Request request) override;
  void on_gone(net::ExchangeId exchange) override;
  void on_room(net::ExchangeId exchange) override;
  void on_time() override;
  net::Response on_refusal(const net::Refusal& refusal) override;

 private:
  // For the log and for stamps.
  struct Visit {
    std::string request_id, method, path;
    std::int64_t accepted_ns = 0;
    int status = 0;
  };
  struct Stamps {
    std::vector<std::int64_t> due_ns, token_ns;
  };
  struct Active {
    Visit visit;
    net::Response head;
    std::unique_ptr<Generation> generation;
    std::vector<JobId> jobs;  // 0: its choice ended.
    std::vector<Stamps> stamps;
    std::int64_t tokens = 0;  // That its jobs may use.
    std::int64_t first_ns = 0, last_ns = 0;
    bool begun = false, held = false;
  };
  struct JobPlace {
    net::ExchangeId exchange;
    std::size_t choice;
  };

  Answer answer_to(const net::Request& request, const Visit& visit);
  std::optional<ApiError> refusal_of(const net::Request& request, const RouteMatch& match) const;
  std::optional<ApiError> full(const Answer& answer, std::int64_t tokens) const;
  void begin(net::ExchangeId exchange, Visit visit, Answer answer);
  void respond(net::ExchangeId exchange, Visit& visit, net::Response response);
  void decorate(net::Response& response, const Visit& visit) const;
  void deliver(const Event& event);
  void fail(net::ExchangeId exchange, Active& active, std::string_view sentence);
  void write(net::ExchangeId exchange, Active& active, std::string_view frames);
  void finish(net::ExchangeId exchange, Active& active);
  void stamp(Active& active, std::size_t choice, const Event& event, std::int64_t now_ns);
  void drop_jobs(Active& active);
  void forget(net::ExchangeId exchange, std::string_view ending);
  void write_stamps(const Active& active, std::string_view ending, std::int64_t now_ns) const;
  void log(const Visit& visit, const Usage& usage, std::string_view ending) const;
  void schedule();
  bool is_late() const;
  std::string new_id();

  ServiceOptions options_;
  Gate gate_;
  std::unique_ptr<Backend> backend_;
  net::Outlet* outlet_ = nullptr;
  std::unordered_map<net::ExchangeId, Active> active_;
  std::unordered_map<JobId, JobPlace> jobs_;
  std::vector<Event> events_;
  Metrics metrics_;
  std::int64_t outstanding_ = 0;
  std::uint64_t ids_made_ = 0;
  std::string id_prefix_;  // No two runs have the same.
  bool draining_ = false;
};

}  // namespace assay::serve
