#pragma once

// Code of this process that would run without being launched: handlers of signals, and timers. With
// them a kernel can leave its work for later, on the very thread that timed it.

#include <array>
#include <cstdint>
#include <string>

namespace assay::sweep {

class ArmedCode {
 public:
  static ArmedCode look();  // Before a kernel is loaded.

  // What has been armed since, to follow "it": "installed a handler of SIGSEGV, ..."; empty if
  // nothing.
  std::string find_more() const;

 private:
  static constexpr int kSignals = 64;
  std::array<uintptr_t, kSignals + 1> handlers_{};
  int timers_ = 0;
};

}  // namespace assay::sweep
