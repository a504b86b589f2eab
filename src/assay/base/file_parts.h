#pragma once

// What reading, replacing and appending have in common. Private to base/.

#include <string>
#include <string_view>
#include <sys/stat.h>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay::file_parts {

std::string shown(const std::string& path);  // A path as messages print it.

// An errno as an error that says whose fault it is: the user's path, or the machine.
tl::unexpected<Error> system_error(std::string_view doing, const std::string& path, int number);

Status check_path(const std::string& path);
Status check_regular(const struct stat& facts, const std::string& path);

// Opens without waiting for the other end of a FIFO, then checks what it was.
Result<UniqueFd> open_regular(const std::string& path, int flags, std::string_view doing,
                              mode_t mode = 0666);

// Writes `lines`, each with its newline. If only a part could be written (disk full), that part is
// cut off again, so that the file still ends with a whole line.
Status append_whole(int fd, const std::string& path, std::string_view lines);

std::string folder_of(const std::string& path);
Status sync_folder(const std::string& folder);

}  // namespace assay::file_parts
