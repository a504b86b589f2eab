#pragma once

// One measurement at a time on a device: two would slow each other down, and neither could tell.
// Every command that times holds the device's lock; whoever comes second waits, or is refused, and
// is told who holds it. The kernel lets go when the holder dies, by whatever signal.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "assay/base/file.h"
#include "assay/base/result.h"

namespace assay {

struct DeviceLockOptions {
  // Where lock files lie: made if absent, for all users. Empty: a folder that every user of the
  // machine can write
  // (/run/lock, /tmp), since they share its devices.
  std::filesystem::path folder;
  // Where there is no such folder: the user's own. Then others are not waited for.
  std::filesystem::path fallback;
  bool wait = true;    // False: ErrorCode::busy at once.
  int cancel_fd = -1;  // Readable: stop waiting, ErrorCode::interrupted.
};

// Where a lock lies, and who is kept out by it.
struct DeviceLockPlace {
  std::filesystem::path file;
  bool everybody = true;  // False: the commands of this user alone.
  std::string why;        // Why not everybody; empty where they are.
};
Result<DeviceLockPlace> find_device_lock(std::string_view device, const DeviceLockOptions& options);

class DeviceLock {
 public:
  // device: "cpu" for this machine's cores and memory as a whole, "gpu-UUID" for a card. `say` is
  // told once that we wait, with the holder's process, command and since when, and again when
  // somebody else holds it. Errors: busy (with the same sentence), interrupted, machine (the folder
  // that was asked for cannot be used).
  static Result<DeviceLock> hold(std::string_view device, const DeviceLockOptions& options,
                                 const std::function<void(std::string_view)>& say);

  const DeviceLockPlace& place() const { return place_; }

 private:
  DeviceLock(FileLock lock, DeviceLockPlace place)
      : lock_(std::move(lock)), place_(std::move(place)) {}
  FileLock lock_;
  DeviceLockPlace place_;
};

}  // namespace assay
