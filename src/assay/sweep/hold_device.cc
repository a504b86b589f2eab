#include "assay/sweep/journal.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

Result<DeviceLock> hold_device(const Request& request, const DeviceWaitObserver& observer) {
  if (!request.keep.folder.empty())
    ASSAY_TRY(Journal::check(request.keep.folder, request.keep.if_present, request.question.kind));
  DeviceLockOptions options = request.caller.lock;
  options.cancel_fd = request.caller.cancel_fd;
  if (options.fallback.empty()) options.fallback = request.keep.cache;
  return DeviceLock::hold(request.venue.lock_name(), options, observer);
}

}  // namespace assay::sweep
