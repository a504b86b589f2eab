#pragma once

// What generates tokens behind the server. All calls come from one thread, none of them waits, and
// time is an argument: a test needs no clock.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/serve/vocabulary.h"

namespace assay::serve {

using JobId = std::uint64_t;  // Never 0, never used twice.

// How tokens are drawn, as the request said; a backend applies what it can.
struct Sampling {
  double temperature = 1;
  double top_p = 1;
  double frequency_penalty = 0, presence_penalty = 0;
  std::optional<std::int64_t> seed;
};

// One answer to one prompt.
struct Job {
  std::vector<int> prompt;
  int choice = 0;       // Which of several answers to the same prompt.
  int max_tokens = 16;  // It ends there, as Finish::length.
  int min_tokens = 0;
  bool ignore_eos = false;  // It does not end before max_tokens.
  bool whole = false;       // Nothing of it is told before its end: its tokens may come together.
  int alternatives = -1;    // Logarithms of probabilities of so many others; -1: of none.
  Sampling sampling;
};

enum class Finish {
  none,    // More follows.
  stop,    // The model ended.
  length,  // max_tokens were made.
  error,   // `error` says why; no token comes with it.
  cut,     // A fault that was asked for: the connection is cut.
};

struct Candidate {
  int token = 0;
  std::string text;
  double logprob = 0;
};

struct Event {
  JobId job = 0;
  std::optional<Candidate> token;     // Its text are bytes, maybe a part of a character.
  std::vector<Candidate> candidates;  // The likeliest, if the job asked for them.
  Finish finish = Finish::none;
  std::string error;
  std::int64_t due_ns = 0;  // When it was to come, where the backend knows.
  int miscounted = 0;       // Tokens that usage is told too many: a fault that was asked for.
};

struct Capabilities {
  std::string name;  // "mock"
  int context = 0;   // Tokens of prompt and answer together.
  int jobs = 0;      // Running and waiting together.
};

struct Load {
  int running = 0, waiting = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Status load() = 0;
  virtual Capabilities capabilities() const = 0;
  virtual Load current_load() const = 0;
  // Why nothing can be submitted now, in a sentence: it is being loaded, or started again.
  virtual std::optional<std::string> unavailable() const { return std::nullopt; }

  virtual const Vocabulary& vocabulary() const = 0;

  virtual int room() const = 0;  // Jobs that submit() would take now.
  virtual JobId submit(Job job, std::int64_t now_ns) = 0;
  virtual void cancel(JobId job, std::int64_t now_ns) = 0;
  // A job whose reader is slow makes nothing until it is let go.
  virtual void hold(JobId job, bool held) = 0;

  // What has come.
  virtual void poll(std::int64_t now_ns, std::vector<Event>& events) = 0;
  // When to poll again; none: nothing will come before the next call.
  virtual std::optional<std::int64_t> next_ns() const = 0;
};

}  // namespace assay::serve
