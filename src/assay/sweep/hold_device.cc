#include "assay/sweep/journal.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

Result<DeviceLock> hold_device(const Request& request, const DeviceWaitObserver& observer) {
  if (!request.folder.empty())
    ASSAY_TRY(Journal::check(request.folder, request.if_present, request.kind));
  DeviceLockOptions options = request.lock;
  options.cancel_fd = request.cancel_fd;
  if (options.fallback.empty()) options.fallback = request.cache;
  return DeviceLock::hold(request.device.empty() ? std::string("cpu") : "gpu-" + request.device,
                          options, observer);
}

}  // namespace assay::sweep
