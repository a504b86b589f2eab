#pragma once

// What a command shows while it waits for a device.

#include "assay/device/device_lock.h"
#include "cli/show/console.h"

namespace assay::cli {

// On a terminal one line that is overwritten; elsewhere one when the wait begins and one when it is
// over. `console` must outlive it.
DeviceWaitObserver show_wait(Console& console);

// That line: at most `width` columns.
std::string wait_line(const DeviceWait& wait, int width);

}  // namespace assay::cli
