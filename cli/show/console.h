#pragma once

// The terminal as a user interface: results on stdout, progress and errors on stderr, colour only
// where somebody looks.

#include <mutex>
#include <string>
#include <string_view>

namespace assay::cli {

enum class Colour { automatic, always, never };

class Console {
 public:
  void configure(bool json, bool quiet, Colour colour, int verbosity);

  bool json() const { return json_; }
  bool quiet() const { return quiet_; }
  int verbosity() const { return verbosity_; }
  bool colour_out() const { return colour_out_; }
  bool terminal_out() const;           // stdout is a terminal: what is wider than it may be cut.
  bool live() const { return live_; }  // stderr is a terminal that a view may redraw.

  // Columns of stdout and of stderr, 80 where there is no terminal; rows of stderr, 24 likewise.
  int width_out() const;
  int width_error() const;
  int height_error() const;

  // Each takes whole lines, and clears a drawn block first. Safe to call from any thread.
  void result(std::string_view text);  // stdout. A reader that went away is not an error.
  // Why stdout did not take a result; empty where it did.
  const std::string& lost_result() const { return lost_result_; }
  // The other three make harmless what a terminal would act upon; a line of a sentence after its
  // first begins with two spaces.
  void progress(std::string_view line);   // stderr, unless quiet.
  void note(std::string_view line);       // stderr, unless quiet.
  void error(std::string_view sentence);  // stderr: "assay: ...".

  // A block of lines that replaces the block drawn before, on a live terminal. Lines must fit.
  void redraw(std::string_view block);
  void finish_redraw();  // Clears the block.

 private:
  void clear_block();

  std::string lost_result_;
  bool json_ = false, quiet_ = false, colour_out_ = false, colour_error_ = false, live_ = false;
  int verbosity_ = 0;
  int drawn_lines_ = 0;
  std::mutex mutex_;  // Of drawn_lines_ and what is written.
};

}  // namespace assay::cli
