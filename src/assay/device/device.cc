#include "assay/device/device.h"

namespace assay {

Status Stream::launch(const DeviceLaunch&) noexcept {
  return fail(ErrorCode::unsupported, "this device runs no device code");
}

}  // namespace assay
