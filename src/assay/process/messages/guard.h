#pragma once

// What a guard is told, and tells. It runs none of the code that it guards, and needs no tickets:
// nobody but the parent and itself has the channel.

#include <optional>
#include <string>

#include "assay/process/message.h"

namespace assay::process {

// The first word to it. It answers with GuardStands.
struct GuardBegins {
  static constexpr const char* kName = "guard begins";
  bool confining = false;  // The worker gets namespaces of its own.
};

// The worker's id, with descriptors of its memory and its mappings, as /proc shows them, and of
// itself; none where the system refuses. Or why there is no worker.
struct GuardStands {
  static constexpr const char* kName = "guard stands";
  int worker = -1;
  std::string error;
  Files files;
  Status check() const;
};

// Every thread of the worker stands still, or goes on. The first is answered by GuardTells.
struct GuardStops {
  static constexpr const char* kName = "guard stops";
  bool stop = false;
};

// Whether they stand still; or, at the worker's end, its status as waitpid() gives it.
struct GuardTells {
  static constexpr const char* kName = "guard tells";
  std::optional<bool> stopped;
  std::optional<int> status;
};

}  // namespace assay::process
