#pragma once

// The pages of a worker that times candidates: the program's, the loader's, libraries' and the
// vDSO's. Candidates are mapped beside them, so whoever keeps the score remembers them before that,
// and looks from outside whether they are still the same.

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay::sweep {

// A line of /proc/PID/smaps with what matters of those below it.
struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::string rights;  // "r-xp".
  uint64_t offset = 0;
  std::string file;       // "08:01 1234": device and inode.
  std::string name;       // Untrusted.
  int64_t anonymous = 0;  // Bytes that are no longer the file's, swapped ones included.

  bool may_run() const { return rights.size() > 2 && rights[2] == 'x'; }
  bool may_change() const { return rights.size() > 1 && rights[1] == 'w'; }
};
std::vector<Mapping> read_mappings(std::string_view smaps);

// Another process, as the system shows it to who has these open.
struct ProcessFiles {
  UniqueFd memory, mappings;  // /proc/PID/mem, smaps.
  UniqueFd process;           // A pidfd: its number may be another's when it is gone.
};

class CodePages {
 public:
  // Whether this user sees a process's threads: /proc may hide those of others, and of processes
  // that cannot be dumped.
  static bool may_watch(pid_t pid);

  // Candidates have not run there yet.
  static Result<CodePages> remember(const ProcessFiles& files);

  // Stops the process while it looks. What has changed, to follow "it": empty where nothing has. A
  // page that was changed and changed back is found, too: it is the file's no more. That is looked
  // at in any case, as are the bytes of what was no file's before (relocated pointers, the vDSO);
  // all bytes of what nothing can be timed without take some milliseconds.
  enum class Depth { quick, all_bytes };
  Result<std::string> find_change(pid_t pid, const ProcessFiles& files, Depth depth) const;

 private:
  struct Part {
    Mapping mapping;
    bool hashed = false;
    uint64_t hash = 0;
  };
  std::vector<Part> parts_;
};

}  // namespace assay::sweep
