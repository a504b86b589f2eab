#pragma once

// One request under way: its answer's bytes become events of its trace.

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "assay/load/answer.h"
#include "assay/load/plan.h"
#include "assay/load/trace.h"
#include "assay/net/client.h"
#include "assay/net/sse_reader.h"

namespace assay::load {

// The text with "***" for each place where the key stands; as it is if the key is empty.
std::string without_key(std::string text, std::string_view key);

class Exchange {
 public:
  // Texts that are kept: for the next turn of a conversation, and for whoever counts tokens.
  struct Keeps {
    bool answer = false;
    bool texts = false;
  };

  // choices: how many answers were asked for (n).
  Exchange(Trace trace, const RequestShape& shape, int choices, Keeps keeps);

  void take(const net::ResponseHead& head, std::string_view body, const net::Arrival& arrival);
  // The answer is whole.
  void finish(const net::ResponseHead& head, const net::Arrival& arrival);
  void fail(Ending ending, std::string sentence, std::int64_t at_ns);

  Trace& trace() { return trace_; }
  bool has_head() const { return has_head_; }
  bool said_done() const { return done_; }  // "[DONE]" came; the body's end may not have.
  // More came than is kept of an answer: nobody needs the rest.
  bool is_too_long() const { return too_long_; }
  const std::string& text() const { return text_; }  // Of the first choice.
  const std::string& fingerprint() const { return fingerprint_; }
  const std::string& software() const { return software_; }        // The header "server".
  const std::string& retry_after() const { return retry_after_; }  // The header; empty: none.

 private:
  void take_head(const net::ResponseHead& head, const net::Arrival& arrival);
  void take_event(std::string_view data, std::int64_t at_ns);
  void take_whole(std::int64_t at_ns);
  void note_chunk(std::int64_t at_ns);
  void keep_texts(const Choice& choice);
  void blame(std::string sentence);  // The first stands.
  // A server's words, without the key that it may have said again, and then cut.
  std::string quoted(std::string text, std::size_t most) const;
  std::string body_error() const;

  Trace trace_;
  bool stream_;
  Keeps keeps_;
  int choices_;
  std::set<int> finished_choices_;
  net::SseReader events_;
  Chunk chunk_;
  std::string key_, body_, text_, fingerprint_, blame_, retry_after_;
  std::string software_;
  std::size_t kept_bytes_ = 0;
  bool has_head_ = false, is_events_ = false, done_ = false, too_long_ = false;
};

}  // namespace assay::load
