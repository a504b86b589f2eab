#pragma once

// The terminal as a user interface: results on stdout, progress and errors on stderr, colour only
// where somebody looks.

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
  bool colour_error() const { return colour_error_; }
  bool live() const { return live_; }          // stderr is a terminal that a view may redraw.
  int width() const;                           // Columns, 80 where there is no terminal.

  void result(std::string_view text);          // stdout. A reader that went away is not an error.
  void progress(std::string_view line);        // stderr, unless quiet.
  void note(std::string_view line);            // stderr, unless quiet.
  void error(std::string_view sentence);       // stderr: "assay: ...".

  // A block of lines that replaces the block drawn before, on a live terminal.
  void redraw(std::string_view block);
  void finish_redraw();                        // Clears the block.

 private:
  bool json_ = false, quiet_ = false, colour_out_ = false, colour_error_ = false, live_ = false;
  int verbosity_ = 0;
  int drawn_lines_ = 0;
};

}  // namespace assay::cli
