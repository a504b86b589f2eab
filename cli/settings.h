#pragma once

// The only reader of the environment. The real environment wins over the .env file that counts in
// the current folder (dot_env.h); flags win over both.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/device_lock.h"
#include "assay/kernel/provider.h"

namespace assay::cli {

struct Settings {
  std::filesystem::path cache;           // Artifacts.
  std::filesystem::path locks;           // ASSAY_LOCK_DIR: locks of devices.
  int lock_fd = -1;                      // ASSAY_LOCK_FD: the parent's lock, handed down.
  std::vector<std::string> plugin_path;  // ASSAY_PLUGIN_PATH: folders, separated by colons.
  std::string device;                    // ASSAY_DEVICE.
  std::string cutlass_profiler;          // CUTLASS_PROFILER_BIN, for --profiler alone.
  std::string api_key;                   // ASSAY_API_KEY, of `serve`.
  std::string ncu;                       // ASSAY_NCU, for `why` on a GPU.
  std::string run_tag;                   // ASSAY_RUN_TAG: the climb that attempts belong to.
  std::string webhook_url;               // ASSAY_WEBHOOK_URL: a secret.
  std::string webhook_ca_file;           // ASSAY_WEBHOOK_CA_FILE: whom to trust for it.
  std::string webhook_source;            // Where it was said: "the environment", "FILE:LINE".
  std::string cxx = "c++";               // CXX.
  std::string nvcc;                      // CUDACXX, CUDA_HOME, CUDA_PATH or PATH; may be empty.
  std::map<std::string, ProviderSettings> providers;  // What the environment says of some.
  std::string pythons;  // Along the PATH, parted by colons: in whose packages libraries may lie.
  std::vector<std::string> child_environment;  // What workers get: exactly these.

  DeviceLockOptions lock_options() const;

  static Result<Settings> from_environment();
};

// What from_environment() reads, for the handbook, by name: our own, and what the providers'
// provider.yaml files name. NO_COLOR and TERM are the console's.
struct EnvironmentVariable {
  std::string name, meaning;
};
std::span<const EnvironmentVariable> environment_variables();

}  // namespace assay::cli
