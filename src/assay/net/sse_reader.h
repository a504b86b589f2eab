#pragma once

// Server-sent events, as the HTML standard's section 9.2 reads a stream: lines end in LF, CR or
// CRLF, a blank line ends an event, lines of data are joined by LF, a line that begins with a colon
// is a comment. One reading differs: an event that the stream's end cuts off behind a whole line of
// data counts, because servers leave the last blank line out.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::net {

class SseReader {
 public:
  explicit SseReader(std::size_t most_event_bytes) : most_(most_event_bytes) {}

  // Calls `event(std::string_view data)` for each event that has data; the view is valid during the
  // call. Where the bytes are cut makes no difference.
  template <class Event>
  void take(std::string_view bytes, Event&& event) {
    Ends ends(bytes);
    while (!bytes.empty() && !refused_) {
      if (after_return_ && bytes.front() == '\n') bytes.remove_prefix(1);
      after_return_ = false;
      const std::size_t end = ends.next(bytes);
      if (end == std::string_view::npos) {
        hold(bytes);
        return;
      }
      after_return_ = bytes[end] == '\r';
      const std::string_view part = bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      if (line_.empty()) {
        if (take_line(part)) dispatch(event);
      } else {
        hold(part);
        if (take_line(line_)) dispatch(event);
        line_.clear();
      }
    }
  }

  // The stream has ended.
  template <class Event>
  void finish(Event&& event) {
    if (!line_.empty() && take_line(line_)) dispatch(event);
    line_.clear();
    if (has_data_ && !refused_) dispatch(event);
  }

  // An event is longer than what is taken: nothing more is read.
  bool refused() const { return refused_; }
  // Of the event that is being dispatched; empty: "message".
  std::string_view name() const { return name_; }

 private:
  // Ends of lines. Each byte is looked at once for each of the two: find_first_of() is a call a
  // byte, and took a seventh of a client's time.
  class Ends {
   public:
    explicit Ends(std::string_view all)
        : all_(all), feed_(all.find('\n')), return_(all.find('\r')) {}

    // In `rest`, which is a tail of all.
    std::size_t next(std::string_view rest) {
      const std::size_t at = all_.size() - rest.size();
      if (feed_ < at) feed_ = all_.find('\n', at);
      if (return_ < at) return_ = all_.find('\r', at);
      const std::size_t end = feed_ < return_ ? feed_ : return_;
      return end == std::string_view::npos ? end : end - at;
    }

   private:
    std::string_view all_;
    std::size_t feed_, return_;
  };

  void hold(std::string_view part);
  bool take_line(std::string_view line);  // Whether it ends an event that has data.

  template <class Event>
  void dispatch(Event&& event) {
    if (refused_) return;
    event(std::string_view(data_));
    data_.clear();
    name_.clear();
    has_data_ = false;
  }

  std::size_t most_;
  std::string line_;  // The beginning of a line that is not whole.
  std::string data_, name_;
  bool has_data_ = false, after_return_ = false, refused_ = false;
  bool first_line_ = true;
};

}  // namespace assay::net
