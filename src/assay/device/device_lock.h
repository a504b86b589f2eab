#pragma once

// One measurement at a time on a device: two would slow each other down, and neither could tell.
// Every command that measures holds the device's lock. The others queue, first come, first served,
// whoever started them. The kernel lets go when a holder or a waiter dies, by whatever signal.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay {

struct DeviceLockOptions {
  // Where lock files lie: made if absent, for all users. Empty: a folder that every user of the
  // machine can write (/run/lock, /tmp), since they share its devices.
  std::filesystem::path folder;
  // Where there is no such folder: the user's own. Then others are not waited for.
  std::filesystem::path fallback;
  bool wait = true;    // False: ErrorCode::busy at once.
  int cancel_fd = -1;  // Readable: stop waiting, ErrorCode::interrupted.
  // A descriptor by which the parent holds the lock for its children; -1: none.
  int handed_down_fd = -1;
};

// Where a lock lies, and who is kept out by it.
struct DeviceLockPlace {
  std::filesystem::path file;
  bool everybody = true;  // False: the commands of this user alone.
  std::string why;        // Why not everybody; empty where they are.
};
Result<DeviceLockPlace> find_device_lock(std::string_view device, const DeviceLockOptions& options);

// What a command that waits can tell its user.
struct DeviceWait {
  std::string device;  // As hold() was asked for it.
  std::string holder;  // "process 12 (assay sweep), since 2025-01-31T23:59:59Z"
  int ahead = 0;       // Commands that come before, the holder included.
  double seconds = 0;  // So far.
  bool over = false;   // The wait has ended, and the lock is held.
};
// Told about ten times a second.
using DeviceWaitObserver = std::function<void(const DeviceWait&)>;

std::string waiting_sentence(const DeviceWait& wait);
std::string waited_sentence(const DeviceWait& wait);
// For logs: one line when a wait begins, and one when it is over.
DeviceWaitObserver in_two_lines(std::function<void(std::string_view)> say);

class DeviceLock {
 public:
  // device: "cpu" for this machine's cores and memory as a whole, "gpu-UUID" for a GPU. `observer`
  // is not called where nobody has to wait. A lock that was handed down is the parent's: it is held
  // at once, and never unlocked here. Errors: busy (a sentence that names the holder), interrupted,
  // invalid_input (what was handed down is no held lock), machine (the folder cannot be used).
  static Result<DeviceLock> hold(std::string_view device, const DeviceLockOptions& options,
                                 const DeviceWaitObserver& observer);

  DeviceLock(DeviceLock&&) noexcept = default;
  DeviceLock& operator=(DeviceLock&& other) noexcept;
  ~DeviceLock() { release(); }

  const DeviceLockPlace& place() const { return place_; }
  // What a child is handed. It is closed on exec until somebody says otherwise.
  int descriptor() const { return fd_.get(); }

 private:
  DeviceLock(UniqueFd fd, DeviceLockPlace place, bool ours)
      : fd_(std::move(fd)), place_(std::move(place)), ours_(ours) {}
  void release();

  UniqueFd fd_;
  DeviceLockPlace place_;
  bool ours_;  // False: the parent's.
};

}  // namespace assay
