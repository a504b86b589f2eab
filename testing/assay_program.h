#pragma once

// The real program, driven as a user would: in a folder of its own, with a cache of its own, and in
// a session of its own, so that every process it leaves behind can be found.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/record/record.h"

namespace assay::testing {

// Generous: a test that needs it has failed.
inline constexpr double kWatchdogSeconds = 120;

// Until `holds`, looking again and again; false once the watchdog has barked.
bool wait_until(const std::function<bool()>& holds, double seconds = kWatchdogSeconds);

// What was said, wherever its lines were broken: each run of spaces and line ends is one space.
std::string unbroken(std::string_view text);

struct Finished {
  ExitStatus status;
  std::string out, err;
  int code() const { return status.kind == ExitStatus::Kind::exited ? status.code : -1; }
};

// Rights that the program may be run with, as words to put before it.
enum class Rights {
  own,               // Ours.
  another_user,      // Of a user who is not root; only root can.
  none_to_separate,  // Neither root's nor those that user namespaces give.
};
std::string_view to_string(Rights rights);

// A program that runs. Its session is killed when this goes out of scope.
class Running {
 public:
  Running(Subprocess process, std::string folder, std::string out_path, std::string err_path);
  ~Running();
  Running(Running&&) = default;

  pid_t pid() const { return process_.pid(); }
  void signal(int number);            // To the program alone.
  Finished wait();                    // Its end, within the watchdog.
  std::string errors_so_far() const;  // What it has written to stderr.
  // Processes of its session, or in its folder, that are alive, itself included.
  std::vector<pid_t> session() const;
  bool leaves_nothing() const;  // Waits until the session is empty.

 private:
  Subprocess process_;
  std::string folder_, out_path_, err_path_;
  pid_t session_ = -1;
};

class AssayProgram {
 public:
  AssayProgram();

  const std::string& folder() const { return folder_.path(); }
  std::string file(std::string_view name) const { return folder_.file(name); }
  // A file of the checkout: source("tests/faults/candidates/good.cc").
  static std::string source(std::string_view path);

  // The program with these words; a relative path means one below folder(). `wrapper`: words to put
  // before the program, such as a shell that sets a limit.
  Running start(std::vector<std::string> words, std::vector<std::string> wrapper = {}) const;
  Finished run(std::vector<std::string> words, std::vector<std::string> wrapper = {}) const;

  // The wrapper that gives the program these rights, and its folder to whoever has them; none where
  // that cannot be done here.
  std::optional<std::vector<std::string>> with(Rights rights) const;

 private:
  TemporaryDirectory folder_;
  mutable int runs_ = 0;
};

// A journal as the tests read it: its whole lines, and whether a torn one follows.
struct JournalText {
  std::vector<Json> lines;
  bool torn = false;
  // How many lines of a kind ("kernel", "problem", "commit") there are.
  int count(std::string_view kind) const;
};
JournalText read_journal(const std::string& run_folder);
// Whole lines, without reading what they say.
int journal_lines(const std::string& run_folder);

// The outcome of a kernel by its name; null if the record has none.
const KernelOutcome* find_kernel(const ProblemRecord& problem, std::string_view name);

// How each kernel of each problem ended, a line each, for the messages of failures; what is wrong
// with the record if it cannot be read.
std::string endings_of(const std::string& record_path);

}  // namespace assay::testing
