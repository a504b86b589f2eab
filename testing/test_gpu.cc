#include "testing/test_gpu.h"

#include "testing/fake_gpu.h"

namespace assay::testing {

Result<std::unique_ptr<cuda::CudaDevice>> open_test_gpu() { return open_fake_gpu(); }

bool test_gpu_is_fake() { return true; }

}  // namespace assay::testing
