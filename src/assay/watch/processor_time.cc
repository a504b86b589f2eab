#include "assay/watch/processor_time.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "assay/measure/burst.h"
#include "assay/record/doubts.h"

namespace assay::sweep {
namespace {

using measure::BurstPulse;

// Processor time and wall time are the same clock's: threads that stay on their cores cannot take
// more at all. What is left is how the two readings of one moment lie apart.
constexpr double kOfOneBurst = 1.02, kOfAllBursts = 1.005;
constexpr double kSlackNs = 10e3;  // Of one burst; of all together, and so much more of each:
constexpr double kSlackOfEachNs = 1e3;
// Few bursts convict nobody by less, and none of them counts: a clock that the system brought up to
// date too late has seemed to exceed by 27 us (seen of stock kernels, in 2 of 67 races on a machine
// at load 8), twice by 34 us in one process (of an honest kernel, on an idle machine), and once by
// 262 us (of an honest kernel, beside programs on both cores of a virtual one).
constexpr double kOfOneAloneNs = 400e3;
constexpr int kFewBursts = 2;
constexpr double kFewOfAll = 0.02;
// So long honest pools spin for more work behind the last launch, each thread of them: half a
// millisecond is what worker_environment() lets them. Whoever finishes an output there is late, and
// that shows in the output.
constexpr double kRestingNs = 2e6;
// Of threads that nobody gave work: of all bursts' time, of each burst (the two clocks are read one
// after the other), and of each thread once (one that wakes by a timer, or by a signal).
constexpr double kIdleShare = 0.01, kIdleOfEachNs = 1e3, kIdleNs = 250e3;

bool is(const Moment& moment, BurstPulse what) {
  return moment.pulse.what == static_cast<uint8_t>(what);
}

double overlap(double from, double until, double first, double last) {
  return std::max(0.0, std::min(until, last) - std::max(from, first));
}

}  // namespace

std::optional<BurstMoments> BurstMoments::of(std::span<const Moment> told) {
  constexpr size_t kEach = 3;
  BurstMoments moments;
  while (!told.empty()) {
    if (told.size() < kEach || !is(told[0], BurstPulse::ready) || told[0].answered_ns == 0 ||
        !is(told[1], BurstPulse::started) || !is(told[2], BurstPulse::stopped))
      return std::nullopt;
    Stretch& stretch = moments.stretches.emplace_back(Stretch{told[0], told[1], told[2], {}});
    told = told.subspan(kEach);
    if (told.empty() || !is(told.front(), BurstPulse::looked)) continue;
    stretch.looked = told.front().pulse.told;
    if (told.front().pulse.certain) stretch.looked_ns = told.front().pulse.sent_ns;
    if (stretch.ready.thread_ns >= 0 && told.front().thread_ns >= 0)
      stretch.thread_ns = told.front().thread_ns - stretch.ready.thread_ns;
    told = told.subspan(1);
  }
  if (moments.stretches.empty()) return std::nullopt;
  return moments;
}

int64_t BurstMoments::outside_ns() const {
  int64_t sum = 0;
  for (const Stretch& stretch : stretches) {
    if (!stretch.started.pulse.certain || !stretch.stopped.pulse.certain) return 0;
    sum += stretch.stopped.pulse.sent_ns - stretch.started.pulse.sent_ns;
  }
  return std::max<int64_t>(1, sum);
}

int64_t BurstMoments::behind_ns() const {
  int64_t sum = 0;
  for (const Stretch& stretch : stretches) {
    if (!stretch.stopped.pulse.certain || stretch.looked_ns == 0) return 0;
    sum += stretch.looked_ns - stretch.stopped.pulse.sent_ns;
  }
  return sum / static_cast<int64_t>(stretches.size());
}

int64_t BurstMoments::thread_ns() const {
  int64_t sum = 0;
  for (const Stretch& stretch : stretches) {
    if (stretch.thread_ns < 0) return -1;
    sum += stretch.thread_ns;
  }
  return sum;
}

// A process asks for its time just ahead of a start and just behind a stop, so what others read
// then is at least that. We hear of both a little later: what ran until we heard of a start is
// missing, what ran until we heard of a stop is too much.
BurstMoments::Ran BurstMoments::ran(int threads) const {
  Ran sum;
  for (const Stretch& stretch : stretches) {
    const Moment &started = stretch.started, &stopped = stretch.stopped;
    if (!started.pulse.certain || !stopped.pulse.certain || started.heard.cpu_ns < 0 ||
        stopped.heard.cpu_ns < 0)
      return {};
    const int64_t wall_ns = std::max<int64_t>(0, stopped.pulse.sent_ns - started.pulse.sent_ns);
    const int64_t read_ns = stopped.heard.cpu_ns - started.heard.cpu_ns;
    const int64_t too_much_ns = threads * (stopped.heard.until_ns - stopped.pulse.sent_ns);
    const int64_t missing_ns = threads * (started.heard.until_ns - started.pulse.sent_ns);
    sum.least_ns += std::clamp<int64_t>(read_ns - too_much_ns, 0, threads * wall_ns);
    sum.most_ns += std::clamp<int64_t>(read_ns + missing_ns, 0, threads * wall_ns);
  }
  sum.most_ns = std::max<int64_t>(1, sum.most_ns);
  return sum;
}

bool BurstMoments::lost_core(int threads, int64_t burst_ns) const {
  const Ran time = ran(threads);
  if (time.most_ns <= 0) return false;
  // Hearing of a start late hides as much as hearing of a stop late adds.
  const int64_t seen_ns = (time.least_ns + time.most_ns) / 2;
  return static_cast<double>(outside_ns() - std::max(burst_ns, seen_ns)) >
         clocks_apart_ns(static_cast<double>(burst_ns), static_cast<double>(stretches.size()));
}

void ProcessorTime::look(Sum& sum, double taken_ns, double given_ns, double unsure_ns,
                         const char* when) {
  sum.taken_ns += taken_ns;
  sum.given_ns += given_ns + unsure_ns;
  const auto exceeds = [&](double taken, double given, double share, double slack, bool counts) {
    if (taken <= share * given + slack || !excess_.empty() || !counts) return;
    excess_ = fmt::format(
        "its process took {:.1f} us of processor time {}, where its threads had cores for {:.1f}",
        taken * 1e-3, when, given * 1e-3);
  };
  const double given = given_ns + unsure_ns;
  if (taken_ns > kOfOneBurst * given + kSlackNs) {
    ++sum.exceeded;
    doubted_ = true;
  }
  sum.forgiven_ns = std::max(sum.forgiven_ns, std::min(taken_ns - given, kOfOneAloneNs));
  exceeds(taken_ns, given, kOfOneBurst, kSlackNs,
          sum.exceeded > std::max<double>(kFewBursts, kFewOfAll * bursts_) ||
              taken_ns - given > kOfOneAloneNs);
  exceeds(sum.taken_ns - sum.forgiven_ns, sum.given_ns, kOfAllBursts,
          kSlackNs + kSlackOfEachNs * bursts_, true);
}

void ProcessorTime::add(const BurstMoments& moments, const ClockReading& answered, int threads,
                        const Told& told) {
  ++bursts_;
  doubted_ = false;
  bursts_ns_ += static_cast<double>(told.burst_ns);
  const auto sent = [](const Moment& moment) { return static_cast<double>(moment.pulse.sent_ns); };
  // Between two readings one thread may run all the time, and the others while the clock runs, and
  // while they come to rest behind a stretch.
  // since: what the clock of a running thread has not been told yet is no older than that. (The
  // system brings it up to date for others when the thread stops, at each tick, and when it asks.)
  const auto between = [&](const ClockReading& from, const ClockReading& until, double since,
                           const char* when, Sum& sum) {
    if (from.cpu_ns < 0 || until.cpu_ns < 0) return;
    const double first = std::min(since, static_cast<double>(from.from_ns));
    const double last = static_cast<double>(until.until_ns);
    double busy = 0;
    for (size_t i = 0; i < moments.stretches.size(); ++i) {
      const double rested = i + 1 < moments.stretches.size()
                                ? sent(moments.stretches[i + 1].started)
                                : std::numeric_limits<double>::infinity();
      const double stopped = sent(moments.stretches[i].stopped);
      busy += overlap(first, last, sent(moments.stretches[i].started),
                      std::min(stopped + kRestingNs, rested));
    }
    const double unsure = static_cast<double>(from.until_ns - from.from_ns) +
                          static_cast<double>(until.until_ns - until.from_ns);
    look(sum, static_cast<double>(until.cpu_ns - from.cpu_ns), last - first + (threads - 1) * busy,
         threads * unsure, when);
  };
  look(burst_, static_cast<double>(told.taken_ns),
       static_cast<double>(threads) * static_cast<double>(told.burst_ns), 0, "in a burst");
  // What the worker says of a burst is held against what is seen from outside. The thread that
  // launches asks for its time just ahead of `ready` and of `started`. What ran before these knew
  // no inputs.
  for (const BurstMoments::Stretch& stretch : moments.stretches)
    between(stretch.started.heard, stretch.stopped.heard, sent(stretch.started),
            "in a burst, seen from outside", seen_);
  const BurstMoments::Stretch& first = moments.stretches.front();
  between(first.ready.heard, answered, sent(first.ready), "around a burst", around_);
  threads_ = threads;
  ahead_ns_ += static_cast<double>(told.others_ahead_ns);
  look_at_others(ahead_ns_, kIdleShare * bursts_ns_ + kIdleOfEachNs * bursts_ + kIdleNs * threads,
                 "while inputs were known and nothing had been launched");
}

void ProcessorTime::add_behind(int64_t others_ns) {
  behind_ns_ += static_cast<double>(others_ns);
  look_at_others(behind_ns_, (threads_ + 1) * kRestingNs * bursts_, "behind their last launches");
}

void ProcessorTime::look_at_others(double taken_ns, double given_ns, const char* when) {
  if (excess_.empty() && taken_ns > given_ns)
    excess_ = fmt::format("its threads worked for {:.1f} us in {} bursts {}", taken_ns * 1e-3,
                          bursts_, when);
}

}  // namespace assay::sweep
