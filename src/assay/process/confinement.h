#pragma once

// What a process gave up before candidates run in it, and what that leaves: not what was tried, but
// what was looked at afterwards.

#include <string>
#include <vector>

namespace assay::process {

struct Confinement {
  bool wanted = false;
  bool other_user = false;        // A user that owns nothing, and is nobody else's.
  bool own_namespaces = false;    // Processes of its own, files read-only.
  std::string shared;             // Why it has none, or not all; empty where it has.
  std::vector<std::string> gaps;  // What does not hold, each as "it can ...".
  bool code_is_watched = false;   // Its parent sees when its code changes (code_pages.h).
  bool native_guests = true;      // Code that users brought runs on the processor, not a GPU alone.

  bool holds() const { return wanted && gaps.empty(); }
};

}  // namespace assay::process
