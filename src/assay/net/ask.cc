#include "assay/net/ask.h"

#include <iterator>
#include <optional>

#include "assay/base/clock.h"

namespace assay::net {
namespace {

class Asker final : public ClientHandler {
 public:
  Asker(std::string request, std::size_t most, AskTrace* trace)
      : request_(std::move(request)), most_(most), trace_(trace) {}

  Result<Answer> run(const Url& server, const ClientOptions& options, double seconds,
                     int cancel_fd) {
    ASSAY_TRY(client_, Client::create(server, options, *this));
    if (const auto begun = client_->connect(); !begun) return fail(begun.error());
    if (cancel_fd >= 0) {
      ASSAY_TRY(client_->watch(cancel_fd, [&] { end({ErrorCode::interrupted, "interrupted"}); }));
    }
    client_->wake_at(monotonic_ns() + static_cast<std::int64_t>(seconds * kNsPerSecond));
    ASSAY_TRY(client_->run());
    if (error_) return tl::unexpected<Error>(*error_);
    return std::move(answer_);
  }

  void on_connected(ConnectionId connection) override {
    if (trace_ != nullptr) trace_->sent = true;
    client_->send(connection, request_);
  }
  void on_body(ConnectionId, const ResponseHead&, std::string_view bytes, const Arrival&) override {
    if (answer_.body.size() + bytes.size() > most_)
      return end({ErrorCode::failed, "the answer is longer than what is taken"});
    answer_.body.append(bytes);
  }
  void on_answer(ConnectionId, const ResponseHead& head, bool, const Arrival&) override {
    answer_.head = head;
    client_->stop();
  }
  void on_closed(ConnectionId, const Error& why, bool, const Arrival&) override { end(why); }
  void on_time() override {
    if (trace_ != nullptr) trace_->timed_out = true;
    end({ErrorCode::failed, "no answer came in time"});
  }

 private:
  void end(Error error) {
    error_ = std::move(error);
    client_->stop();
  }

  std::string request_;
  std::size_t most_;
  AskTrace* trace_;
  std::unique_ptr<Client> client_;
  Answer answer_;
  std::optional<Error> error_;
};

}  // namespace

std::string request_text(const Url& server, const Question& question) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", question.method, question.path,
                                 server.authority());
  for (const Header& header : question.headers)
    if (is_token(header.name) && is_one_line(header.value))
      fmt::format_to(std::back_inserter(text), "{}: {}\r\n", header.name, header.value);
  if (question.method == "POST")
    fmt::format_to(std::back_inserter(text), "Content-Length: {}\r\n", question.body.size());
  text += "\r\n";
  return text + question.body;
}

Result<Answer> ask(const Url& server, const ClientOptions& options, const Question& question,
                   int cancel_fd, AskTrace* trace) {
  return Asker(request_text(server, question), question.most_bytes, trace)
      .run(server, options, question.seconds, cancel_fd);
}

}  // namespace assay::net
