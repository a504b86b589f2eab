// In gpu_test this stands for testing/test_gpu.cc.
#include "testing/test_gpu.h"

namespace assay::testing {

Result<std::unique_ptr<cuda::CudaDevice>> open_test_gpu() {
  ASSAY_TRY(const auto driver, cuda::Driver::open());
  ASSAY_TRY(const auto gpus, cuda::list_gpus(*driver));
  if (gpus.empty()) return fail(ErrorCode::missing, "the driver lists no GPU");
  return cuda::open(driver, gpus.front());
}

bool test_gpu_is_fake() { return false; }

}  // namespace assay::testing
