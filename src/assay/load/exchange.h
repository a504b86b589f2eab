#pragma once

// One request under way: its answer's bytes become events of its trace.

#include <memory>
#include <string>
#include <string_view>

#include "assay/load/answer.h"
#include "assay/load/plan.h"
#include "assay/load/trace.h"
#include "assay/net/client.h"
#include "assay/net/sse_reader.h"

namespace assay::load {

class Exchange {
 public:
  // choices: how many answers were asked for (n).
  Exchange(Trace trace, const RequestShape& shape, int choices, bool wants_text);

  void take(const net::ResponseHead& head, std::string_view body, const net::Arrival& arrival);
  // The answer is whole.
  void finish(const net::ResponseHead& head, const net::Arrival& arrival);
  void fail(Ending ending, std::string sentence, std::int64_t at_ns);

  Trace& trace() { return trace_; }
  bool said_done() const { return done_; }  // "[DONE]" came; the body's end may not have.
  const std::string& text() const { return text_; }
  const std::string& fingerprint() const { return fingerprint_; }
  const std::string& retry_after() const { return retry_after_; }  // The header; empty: none.

 private:
  void take_head(const net::ResponseHead& head, const net::Arrival& arrival);
  void take_event(std::string_view data, std::int64_t at_ns);
  void take_whole(std::int64_t at_ns);
  void note_chunk(std::int64_t at_ns);
  void blame(std::string sentence);  // The first stands.
  std::string body_error() const;

  Trace trace_;
  bool stream_, wants_text_;
  int choices_, finished_choices_ = 0;
  net::SseReader events_;
  Chunk chunk_;
  std::string body_, text_, fingerprint_, blame_, retry_after_;
  bool has_head_ = false, is_events_ = false, done_ = false;
};

}  // namespace assay::load
