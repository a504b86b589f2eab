#pragma once

// A file that gets lines while a server runs. A line is written once the work at hand is done,
// together with those that came meanwhile: a write for each costs as much as a small answer.

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay {

class LineFile {
 public:
  // Creates the file if need be. Nothing is cut off: lines are appended.
  static Result<LineFile> open(const std::string& path);

  // Calls what it is given once the work at hand is done. Without it each line is written at once.
  using Soon = std::function<void(std::function<void()>)>;
  void flush_by(Soon soon) { soon_ = std::move(soon); }
  // Told of the first line that could not be written. Later ones are lost as well, in silence.
  void tell_loss(std::function<void(const Error&)> lost) { lost_ = std::move(lost); }

  void append(std::string_view line);  // Without its newline.
  // A line that takes long to make. One is made at a time, each when the work at hand is done.
  void append_later(std::function<std::string()> make);
  void flush();

 private:
  void make_one();
  void write();

  UniqueFd fd_;
  std::string path_, waiting_;
  std::deque<std::function<std::string()>> unmade_;
  Soon soon_;
  std::function<void(const Error&)> lost_;
};

}  // namespace assay
