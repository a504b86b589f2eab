#pragma once

// What a worker gives up before candidate code runs, and what that leaves: not what was tried, but
// what was looked at afterwards.

#include <string>
#include <sys/types.h>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/json.h"
#include "assay/sweep/guard.h"

namespace assay::sweep {

// Whom and what a candidate must not reach.
struct Protected {
  pid_t parent = -1;               // Who keeps the score.
  std::vector<std::string> paths;  // The run's folder, the cache.
};

struct Confinement {
  bool wanted = false;
  bool other_user = false;        // A user that owns nothing, and is nobody else's.
  bool own_namespaces = false;    // Processes of its own, files read-only.
  std::string shared;             // Why it has none, or not all; empty where it has.
  std::vector<std::string> gaps;  // What does not hold, each as "it can ...".
  bool native_guests = true;  // Code that users brought runs on the processor, not a card alone.

  bool holds() const { return wanted && gaps.empty(); }
};
Json to_json(const Confinement& confinement);
// Of a worker's answer, which candidate code cannot have changed: it has not run yet.
Confinement confinement_from_json(const Json& json);

// No capabilities, no new privileges, no core dumps and, where this process may change it, a user
// of its own: one that cannot enter the cache's folder would be of no use, so the user stays where
// others may not. Where nothing is wanted, only core dumps are given up.
Confinement confine(bool wanted, const Surroundings& place, const Protected& harness,
                    const std::string& cache);

// Of the calling thread, and those that it starts.
void forbid_new_privileges();
// Of all threads, from now on, to change limits and system call filters, which would meet the
// kernels after it in its process, to start processes that are not this one's, and to have pages
// filled when somebody reads them. Where the system has no filters, nothing changes.
void forbid_escaping();
void drop_capabilities();
// Of processes and threads, beyond those that the user of this process has already: candidate code
// that goes on forking meets this limit, and not the machine's. (The system lets root alone have as
// many as it likes.)
void limit_processes(int64_t already);

// The first folder on the way to a file, and to what it links to, that others than its owner may
// not enter; empty: there is none.
std::string closed_folder(const std::string& file);

// Of this process and those that it starts; before confine(), after which no limit can be changed.
void limit_address_space(int64_t bytes);

// The parent and the referee: other processes of the same user may not read their memory.
void hide_memory();

}  // namespace assay::sweep
