#pragma once

// For libraries that do one thing at a time in a process, however many threads call them.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay {

// Calls use(i) for every i below `count`: the first in this process, so that what is loaded once is
// loaded once, the others in children forked from it, as many as there are cores. Returns what use
// returned, NaN where a child died of it; nothing else that a child does to memory is seen here.
// `use` must not throw, nor take locks that other threads of this process may hold. Once cancel_fd
// is readable no other begins, and children get SIGTERM: a use that takes long looks for that in
// the same descriptor (it is one of signals), and after some seconds its child is killed.
std::vector<double> for_each_forked(size_t count, const std::function<double(size_t i)>& use,
                                    int cancel_fd = -1);

struct AskLimits {
  std::optional<std::int64_t> timeout_ns;
  int cancel_fd = -1;             // Readable: ErrorCode::interrupted.
  std::size_t most_bytes = 4096;  // Of the answer.
};

// What `use` returns, made in a child that is forked from this process for it alone: for what may
// end a process, crash it, or never return. The child has none of our descriptors, and what is left
// of its process group ends with it. The answer is to be read as a stranger's, and is never empty.
// Errors: failed, with how the child ended instead; machine.
Result<std::string> ask_forked(const std::function<std::string()>& use, const AskLimits& limits);

}  // namespace assay
