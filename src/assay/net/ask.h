#pragma once

// One question to a server, and its answer: for what is asked before a run.

#include <string>
#include <string_view>

#include "assay/net/client.h"

namespace assay::net {

struct Answer {
  ResponseHead head;
  std::string body;
};

struct Question {
  std::string method = "GET";
  std::string path = "/";
  std::vector<Header> headers;
  std::string body;
  double seconds = 10;  // For all of it.
  std::size_t most_bytes = 16 << 20;
};

// How far a question came, an unanswered one included.
struct AskTrace {
  bool sent = false;  // A connection stood, and the request left.
  bool timed_out = false;
};

// Errors: failed (no connection, no whole answer in time), interrupted (cancel_fd was readable).
Result<Answer> ask(const Url& server, const ClientOptions& options, const Question& question,
                   int cancel_fd = -1, AskTrace* trace = nullptr);

// A request's bytes. A header whose name or value holds a line end is left out.
std::string request_text(const Url& server, const Question& question);

}  // namespace assay::net
