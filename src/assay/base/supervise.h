#pragma once

// Programs of which nothing outlives its caller: each runs behind a supervisor, a process that
// adopts whatever the program starts (daemons and sessions of their own included) and ends all of
// it when the program has ended, when its time is over, or when the caller has ended, by whatever
// signal.

#include <string>

#include "assay/base/subprocess.h"

namespace assay {

// As run_command(), but a relative path of argv[0] is relative to the working folder of `options`.
// `supervisor` is a program that answers to the role: assay itself. not_found: there is no such
// program.
Result<CommandOutput> run_supervised(const SubprocessOptions& options, const CommandLimits& limits,
                                     const std::string& supervisor = "/proc/self/exe");

// The same for a program that runs beside its caller: what to start instead. terminate() with
// kSupervisorGraceNs ends all of it; the Subprocess must not be dropped before.
Result<SubprocessOptions> behind_supervisor(const SubprocessOptions& options,
                                            const std::string& supervisor = "/proc/self/exe");
inline constexpr std::int64_t kSupervisorGraceNs = 30'000'000'000;

// The role, `supervise PARENT PROGRAM ARGUMENTS...`: main() of that process. It ends as the program
// ends: with its exit code, or by its signal.
int supervise_main(int argc, char** argv);

}  // namespace assay
