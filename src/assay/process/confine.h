#pragma once

// What a worker gives up before candidate code runs, and what that leaves: not what was tried, but
// what was looked at afterwards.

#include <string>
#include <sys/types.h>
#include <vector>

#include "assay/base/fd.h"
#include "assay/process/confinement.h"
#include "assay/process/guard.h"

namespace assay::sweep {

// Whom and what a candidate must not reach.
struct Protected {
  pid_t parent = -1;               // Who keeps the score.
  std::vector<std::string> paths;  // The run's folder, the cache.
  // Candidates will be mapped into this process, beside the code that times them.
  bool own_code = false;
  bool counts = false;   // This process reads the processor's counters.
  bool devices = false;  // It drives a GPU.
};

// No capabilities, no new privileges, no core dumps and, where this process may change it, a user
// of its own: one that cannot enter the cache's folder would be of no use, so the user stays where
// others may not. Where nothing is wanted, only core dumps are given up.
process::Confinement confine(bool wanted, const Surroundings& place, const Protected& harness,
                             const std::string& cache);

// Of the calling thread, and those that it starts.
void forbid_new_privileges();
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

// Of a process of ours: others of the same user may not read it.
void hide_memory();

}  // namespace assay::sweep
