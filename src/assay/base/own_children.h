#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace assay {

// Children of this process. With PR_SET_CHILD_SUBREAPER those that lost their parents are among
// them.
std::vector<pid_t> own_children();

// Ends those of them that no Subprocess of this program knows (subprocess.cc): children by any
// other fork are ended, too. Gives up after patience_ns.
void end_orphans(std::int64_t patience_ns);

}  // namespace assay
