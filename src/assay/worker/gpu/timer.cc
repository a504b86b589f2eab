#include "assay/worker/gpu/timer.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::sweep {

Result<measure::TimerFacts> measure_gpu_timer(cuda::CudaDevice& device) {
  constexpr int kPairs = 64;
  ASSAY_TRY(const auto stream, device.make_stream());
  const auto native = static_cast<cuda::abi::Stream>(stream->native());
  ASSAY_TRY(auto gate, cuda::Gate::create(device.driver()));
  std::vector<cuda::Event> events;
  ASSAY_TRY(gate.close(native));
  for (int i = 0; i < kPairs; ++i) {
    ASSAY_TRY(auto event, cuda::Event::create(device.driver()));
    events.push_back(std::move(event));
    ASSAY_TRY(events.back().record(native));
  }
  gate.open();
  ASSAY_TRY(stream->synchronize());
  measure::TimerFacts facts;
  facts.tick_ns = facts.empty_burst_ns = HUGE_VAL;
  for (size_t i = 1; i < events.size(); ++i) {
    ASSAY_TRY(const double ns, events[i].ns_since(events[i - 1]));
    if (ns > 0) facts.empty_burst_ns = std::min(facts.empty_burst_ns, ns);
    if (i < 2) continue;
    ASSAY_TRY(const double longer, events[i].ns_since(events[i - 2]));
    if (longer > ns) facts.tick_ns = std::min(facts.tick_ns, longer - ns);
  }
  if (!std::isfinite(facts.tick_ns)) facts.tick_ns = 32;
  if (!std::isfinite(facts.empty_burst_ns)) facts.empty_burst_ns = 0;
  // A thousand of these: what a burst costs once is about a microsecond (docs/method.md).
  facts.read_ns = 200;
  return facts;
}

}  // namespace assay::sweep
