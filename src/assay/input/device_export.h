#pragma once

// Device code as it leaves the house: its image, and C++ that launches it through the driver.

#include <string>
#include <vector>

#include "assay/kernel/argument_value.h"
#include "assay/kernel/device_code/bind.h"
#include "assay/kernel/export.h"

namespace assay::input {

struct CodeLaunch {
  std::string symbol;
  device_code::Geometry geometry;
  std::vector<ArgumentValue> parameters;
  bool dependent = false;  // It waits for what is ahead of it by itself.
};

// image: the artifact's file name, "kernel.cubin" or "kernel.ptx", and its bytes. for_target:
// "sm_90a". ErrorCode::unsupported where a name of the code cannot stand in C++.
Result<KernelExport> export_device_code(const ExportFile& image, const CodeLaunch& launch,
                                        const std::string& for_target);

// What an export's code for a GPU includes, and its caller: cuda_driver.h, gpu_launch.h.
std::vector<ExportFile> launcher_files();

}  // namespace assay::input
