#pragma once

// What a device can do, in numbers, as it was told: the one reader of a fingerprint's details.

#include <string>

#include "assay/device/device.h"
#include "assay/device/target.h"

namespace assay {

// 0: not told.
struct DeviceFacts {
  Target target;
  std::string name;             // Model.
  double capability = 0;        // 9.0 of sm_90; 0: no GPU.
  double multiprocessors = 0;   // Of a GPU.
  double clock_hz = 0;          // The highest.
  double bytes_per_second = 0;  // Of its memory: two transfers a clock over the bus.
  double l2_bytes = 0;          // Last-level cache.
};

DeviceFacts facts_of(const Device& device);
DeviceFacts facts_of(const Target& target);  // Of a GPU that is not here: its architecture.
// Of a device that is another process's: neither target nor cache.
DeviceFacts facts_of(const Fingerprint& fingerprint);

}  // namespace assay
