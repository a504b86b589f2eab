#pragma once

// While one lives no signal interrupts this thread: what a timer or another thread sends waits
// until the burst was timed and looked at. A fault ends the process, whatever handler there is, so
// that none serves the first one to read an output.

#include <csignal>

namespace assay::measure {

class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Holds them again, if somebody let one in meanwhile. True if nobody did.
  bool hold_on();

 private:
  sigset_t all_, before_;
};

}  // namespace assay::measure
