#pragma once

// A file that processes lock by flock(), and in which the holder leaves its name. FileLock and
// DeviceLock are made of it.

#include <string>
#include <string_view>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay {

// Opened, and made if absent. A link or a second name of another file is refused: its folder may be
// one that everybody writes.
Result<UniqueFd> open_lock_file(const std::string& path);

// Whether `path` still names the file that is open; somebody may have removed it.
bool is_current_lock_file(int fd, const std::string& path);

// "process 12 (assay sweep), since 2025-01-31T23:59:59Z", as the holder wrote it.
std::string holder_of_lock(int fd);

// Locked, with this process's name in it, or ErrorCode::busy with the holder's. An empty `command`
// means this process's own command line.
Result<UniqueFd> try_lock_file(const std::string& path, std::string_view command = {});

void unlock_file(UniqueFd& fd);

}  // namespace assay
