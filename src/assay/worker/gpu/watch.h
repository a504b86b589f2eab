#pragma once

// A GPU's state while others use it: read aside at 20 Hz, by a process that launches nothing.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

#include "assay/device/cuda/nvml.h"
#include "assay/record/gpu_window.h"

namespace assay::sweep {

class GpuWatch {
 public:
  // Begins to watch. `family`: a process whose descendants are no strangers on the GPU.
  GpuWatch(std::shared_ptr<const cuda::Nvml> nvml, std::string uuid, pid_t family);
  ~GpuWatch();

  // What was seen since the call before this, or the beginning.
  GpuWindow take();

 private:
  void watch();
  void look();

  std::shared_ptr<const cuda::Nvml> nvml_;
  std::string uuid_;
  pid_t family_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::vector<cuda::GpuState> states_;
  std::vector<cuda::GpuProcess> strangers_;  // Each once.
  std::string from_;
  std::thread thread_;
};

// Whether `process` descends from `ancestor`, itself included. False where the system does not show
// that process.
bool descends_from(pid_t process, pid_t ancestor);

}  // namespace assay::sweep
