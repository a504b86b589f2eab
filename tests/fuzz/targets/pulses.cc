// Moments that a worker tells of: one message a line, of any length.

#include "assay/base/pulses.h"

#include <sys/socket.h>

#include "assay/base/text.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(pulses) {
  auto pair = PulseReceiver::create_pair();
  if (!pair) return;
  for (const std::string_view told : split(bytes.substr(0, 4096), '\n')) {
    // An empty one between two moments must not hide the second.
    const bool sent = ::send(pair->second.get(), told.data(), told.size(), MSG_DONTWAIT) >= 0;
    const char last = 'x';
    if (!sent || ::send(pair->second.get(), &last, 1, MSG_DONTWAIT) != 1) return;
    if (!told.empty()) {
      const auto pulse = pair->first.next();
      fuzz::expect(pulse && pulse->what == static_cast<uint8_t>(told.front()),
                   "a moment is not heard as it was told");
    }
    const auto pulse = pair->first.next();
    fuzz::expect(pulse && pulse->what == static_cast<uint8_t>(last),
                 "a moment behind another message is not heard");
    fuzz::expect(pulse && pulse->sent_ns > 0, "a moment has no time");
  }
  fuzz::expect(!pair->first.next(), "more moments than were told");
}

}  // namespace assay
