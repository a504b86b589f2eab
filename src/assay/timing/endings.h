#pragma once

// How kernels end, in the words of the record, when something happens to their process.

#include <string>
#include <variant>

#include "assay/process/child.h"
#include "assay/record/record.h"

namespace assay::sweep {

// What to add to a child's answer's end: the record's ending for a death in `stage`.
Ending ending_of(const CallFailure& failure, const std::string& stage);

// Of a candidate behind whose launches a process, or other work, went on.
Ending left_processes();
Ending late_work(const std::string& what);

// Whether a kernel ended in a way in which others can make it end by what they take of the machine.
inline bool fails_by_limits(const Ending& ending) {
  return std::holds_alternative<ending::Crash>(ending) ||
         std::holds_alternative<ending::Timeout>(ending) ||
         std::holds_alternative<ending::OutOfMemory>(ending);
}

}  // namespace assay::sweep
