#pragma once

#include <sys/types.h>
#include <vector>

namespace assay {

// Children of this process. With PR_SET_CHILD_SUBREAPER those that lost their parents are among
// them.
std::vector<pid_t> own_children();

}  // namespace assay
