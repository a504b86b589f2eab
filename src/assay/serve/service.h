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
#include "assay/serve/backend.h"
#include "assay/serve/desk.h"
#include "assay/serve/metrics.h"
#include "assay/serve/routes.h"

namespace assay::serve {

struct ServiceOptions {
  DeskOptions desk;
  std::int64_t outstanding_tokens = 16 << 20;  // Of all jobs, prompts and answers.
  // Takes what makes a line, which for thousands of tokens is long: nobody's tokens wait for it.
  std::function<void(std::function<std::string()>)> stamps;
};

class Service final : public FrontEnd {
 public:
  Service(ServiceOptions options, std::unique_ptr<Backend> backend);

  void attach(net::Outlet& outlet) { outlet_ = &outlet; }  // Before anything is asked.
  void drain() override { desk_.drain(); }
  std::size_t active() const override { return active_.size(); }
  const Backend& backend() const { return *backend_; }

  void on_request(net::ExchangeId exchange, net::Request request) override;
  void on_gone(net::ExchangeId exchange) override;
  void on_room(net::ExchangeId exchange) override;
  void on_time() override;
  net::Response on_refusal(const net::Refusal& refusal) override;

 private:
  struct Stamps {
    explicit Stamps(int tokens);
    std::vector<std::int64_t> due_ns, token_ns;
  };
  struct Active {
    Visit visit;
    net::Response head;
    std::unique_ptr<AnswerFrames> frames;
    std::vector<JobId> jobs;  // 0: its choice ended.
    std::vector<Stamps> stamps;
    std::int64_t tokens = 0;  // That its jobs may use.
    std::int64_t first_ns = 0, last_ns = 0;
    bool begun = false, held = false;
  };
  struct JobPlace {
    net::ExchangeId exchange;
    std::size_t choice;
    Active* active;  // Stays where it is while it has jobs.
  };

  Answer answer_to(const net::Request& request);
  std::optional<ApiError> full(const Answer& answer, std::int64_t tokens) const;
  void begin(net::ExchangeId exchange, Visit visit, Answer answer);
  void respond(net::ExchangeId exchange, Visit& visit, net::Response response);
  void deliver(const Event& event, std::int64_t polled_ns);
  void fail(net::ExchangeId exchange, Active& active, std::string_view sentence);
  void write(net::ExchangeId exchange, Active& active, std::string_view frames);
  void finish(net::ExchangeId exchange, Active& active);
  void stamp(Active& active, std::size_t choice, const Event& event, std::int64_t now_ns);
  void drop_jobs(Active& active);
  void forget(net::ExchangeId exchange, std::string_view ending);
  void write_stamps(Active& active, std::string_view ending, std::int64_t now_ns) const;
  void schedule();
  bool is_late() const;

  Desk desk_;
  std::int64_t outstanding_tokens_;
  std::function<void(std::function<std::string()>)> told_stamps_;
  std::unique_ptr<Backend> backend_;
  net::Outlet* outlet_ = nullptr;
  std::unordered_map<net::ExchangeId, Active> active_;
  std::unordered_map<JobId, JobPlace> jobs_;
  std::vector<Event> events_;
  Metrics metrics_;
  std::int64_t outstanding_ = 0;
};

}  // namespace assay::serve
