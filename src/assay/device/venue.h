#pragma once

// Where kernels run: on this machine's cores, or on one GPU. It is chosen once, by whoever asks for
// a run; everybody else asks it.

#include <string>

namespace assay {

struct Venue {
  std::string gpu;          // Its UUID; empty: this machine's cores.
  std::string cuda_driver;  // The driver's library; empty: the system's.
  int threads = 0;          // 0: physical cores less one, at least one.

  bool is_gpu() const { return !gpu.empty(); }
  bool is_cpu() const { return gpu.empty(); }
  // As records and people call it: "cpu", or the UUID.
  std::string name() const { return is_gpu() ? gpu : "cpu"; }
  // Of the lock by which commands that measure there queue (device_lock.h).
  std::string lock_name() const { return is_gpu() ? "gpu-" + gpu : "cpu"; }
};

}  // namespace assay
