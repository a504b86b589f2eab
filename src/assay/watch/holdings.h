#pragma once

// What a process holds of what all of its kernels share, looked at from outside.

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace assay::sweep {

struct Holdings {
  int64_t resident_bytes = 0, huge_bytes = 0;  // huge: of them, in pages that the system made huge.
  int64_t mappings = 0, descriptors = 0, threads = 0;

  // None where this user may not look, or there is no such process.
  static std::optional<Holdings> of(pid_t process);

  // What was taken since `before` beyond so many bytes that were asked for, as "37 MiB ...", or
  // empty: a thread and a heap of their own are everybody's.
  std::string grown_since(const Holdings& before, int64_t declared_bytes) const;
};

}  // namespace assay::sweep
