#pragma once

// One request for text while it is answered: events of its jobs go in, frames or a whole body come
// out. It knows no socket and no clock.

#include <cstdint>
#include <string>
#include <vector>

#include "assay/serve/answer_pieces.h"
#include "assay/serve/asked.h"
#include "assay/serve/stop_filter.h"

namespace assay::serve {

struct AnswerNames {
  std::string id;  // "chatcmpl-..."
  std::int64_t created_s = 0;
  std::string model;
  std::string fingerprint;
};

class AnswerFrames {
 public:
  // `prompt_tokens`: of each prompt. Choices are numbered by prompt, then by answer.
  AnswerFrames(Asked asked, AnswerNames names, const std::vector<std::int64_t>& prompt_tokens);

  struct Step {
    std::string frames;   // To be sent in one write; empty if nothing can be told yet.
    bool cancel = false;  // The choice ended here; its job need not go on.
  };
  Step take(std::size_t choice, const Event& event);
  std::string end_frames() const;  // Usage, if it was asked for, and the end line.
  std::string error_frames(const ApiError& error) const;
  std::string body() const;  // Where no stream was asked for.

  bool streams() const { return asked_.stream; }
  std::size_t choices() const { return choices_.size(); }
  bool ended() const { return open_ == 0; }
  const Usage& usage() const { return usage_; }

 private:
  struct Choice {
    StopFilter filter;
    std::string text;  // Of a whole body.
    std::vector<TokenLog> logs;
    std::int64_t offset = 0;  // In the text, of the next token whose logprob is told.
    Finish finish = Finish::none;
    bool begun = false;
  };

  // The prompt, where it was asked to stand before the answer.
  std::string_view echoed(std::size_t index) const;
  // A frame's two ends; its delta stands between them.
  void open_chunk(std::string& frames, std::size_t index) const;
  void close_chunk(std::string& frames, std::string_view logprobs, Finish finish) const;
  void append_end(std::string& frames, std::size_t index, Choice& choice) const;
  std::string take_logprobs(Choice& choice) const;
  void append_begin(std::string& frames, std::size_t index, Choice& choice) const;
  void append_text(std::string& frames, std::size_t index, Choice& choice, std::string_view text);
  void append_choice(std::string& body, std::size_t index) const;
  void append_tail(std::string& frames) const;

  Asked asked_;
  std::string prefix_;  // What every chunk begins with.
  AnswerNames names_;
  Usage usage_;
  std::vector<Choice> choices_;
  std::size_t open_ = 0;
};

}  // namespace assay::serve
