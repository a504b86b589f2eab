#pragma once

// A program that runs behind a supervisor, of which the end of its output is kept.

#include <optional>
#include <string>

#include "assay/base/fd.h"
#include "assay/base/subprocess.h"

namespace assay::serve {

class ChildProgram {
 public:
  ChildProgram() = default;
  ChildProgram(ChildProgram&&) = default;
  ~ChildProgram() { stop(); }

  // Its stdout and stderr are ours. What ran before is stopped. `supervisor`: base/supervise.h.
  Status start(const SubprocessOptions& options, const std::string& supervisor);
  void stop();  // With all that it has started.

  // What it has said is read, and whether it has ended is looked at; how it ended, once.
  std::optional<std::string> look();
  bool runs() const { return process_.has_value(); }
  std::string last_words() const;  // For a message; empty: it said nothing.
  // "{what} exited with code 1; the end of what it said: ..."
  std::string account(std::string_view what, std::string_view ending) const;

 private:
  void read_output();

  std::optional<Subprocess> process_;
  UniqueFd output_;
  std::string said_;
};

}  // namespace assay::serve
