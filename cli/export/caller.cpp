// Calls the exported kernel: is it right, and how long does it take? Needs nothing but a C++20
// compiler and Linux. What the problem is stands in problem.h, what right is in check.h.
//
//   caller              checks, then times for two seconds
//   caller --seconds 5  times for longer; 0 only checks
//
// Exit codes: 0 right, 1 wrong, 2 the kernel or the machine failed.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "check.h"

namespace {

// --- Memory -------------------------------------------------------------------------------------

// Pages of its own, large ones where the system gives them.
class Memory {
 public:
  explicit Memory(std::size_t bytes) {
    constexpr std::size_t kLarge = std::size_t{2} << 20;
    bytes_ = (std::max<std::size_t>(bytes, 1) + 2 * kLarge - 1) / kLarge * kLarge;
    start_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start_ == MAP_FAILED) {
      std::fprintf(stderr, "caller: no %zu bytes of memory\n", bytes_);
      std::exit(2);
    }
    madvise(start_, bytes_, MADV_HUGEPAGE);
    const auto address = reinterpret_cast<std::uintptr_t>(start_);
    data_ = reinterpret_cast<std::byte*>((address + kLarge - 1) / kLarge * kLarge);
  }
  ~Memory() { munmap(start_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::byte* data() const { return data_; }

 private:
  void* start_ = nullptr;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

// Cuts one piece of memory after the other, each a few pages further on, so that not all of them
// start at the same place of a page.
class Cutter {
 public:
  explicit Cutter(std::byte* start) : at_(start) {}
  static std::size_t room(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096 + 16 * 4096; }
  std::byte* take(std::size_t bytes) {
    std::byte* const piece = at_ + pages_.next() % 16 * 4096;
    at_ += room(bytes);
    return piece;
  }

 private:
  std::byte* at_;
  Random pages_{7};
};

void flush([[maybe_unused]] const std::byte* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__x86_64__)
  for (std::size_t at = 0; at < bytes; at += 64) _mm_clflush(data + at);
  _mm_mfence();
#endif
}

double last_level_cache_bytes() {
  for (const int name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const long bytes = sysconf(name); bytes > 0) return static_cast<double>(bytes);
  return 0x1p25;
}

// --- The operand sets ---------------------------------------------------------------------------

// Weights stay cold by rotation: sets of operands of three times the last cache. Where that would
// take more sets than this, or more memory, each is flushed from the caches after its use.
constexpr double kCacheMultiple = 3, kMostRotatedBytes = 0x1.8p28, kFlushedBytes = 0x1p27;
constexpr int kLeastSets = 4, kMostSets = 64, kLeastFlushedSets = 16;
constexpr std::size_t kRingBytes = std::size_t{1} << 20;
constexpr int kWorkspaces = 4;
// Ahead of an output and behind it nothing else lies, and nothing is to be written.
constexpr std::size_t kBesideBytes = 4096;

struct Plan {
  int sets = kLeastSets;
  bool flush = false;
};

Plan plan_of() {
  Plan plan;
  double cold = 0;
  for (const Operand& operand : problem::kOperand)
    if (operand.cold) cold += static_cast<double>(operand.bytes);
  if (cold > 0) {
    const double bytes = kCacheMultiple * last_level_cache_bytes(), wanted = bytes / cold;
    plan.flush = wanted > kMostSets || (bytes > kMostRotatedBytes && wanted > kLeastSets);
    plan.sets = plan.flush ? std::clamp(static_cast<int>(std::min(kFlushedBytes / cold, 1e6)),
                                        kLeastFlushedSets, kMostSets)
                           : std::max(kLeastSets, static_cast<int>(wanted) + 1);
  }
  plan.sets += plan.sets % 2;
  return plan;
}

class Sets {
 public:
  explicit Sets(const Plan& plan)
      : plan_(plan),
        outputs_(output_ring(plan.sets)),
        memory_(room()),
        cutter_(memory_.data() + kBesideBytes) {
    Random random(static_cast<std::uint64_t>(
        std::chrono::steady_clock::now().time_since_epoch().count()));
    std::vector<void*> outputs, workspaces;
    for (int i = 0; i < outputs_; ++i) outputs.push_back(cutter_.take(problem::kOutputBytes));
    for (int i = 0; i < kWorkspaces; ++i)
      workspaces.push_back(problem::kWorkspaceBytes > 0 ? cutter_.take(problem::kWorkspaceBytes)
                                                        : nullptr);
    for (int s = 0; s < plan.sets; ++s) {
      problem::Buffers set;
      for (std::size_t i = 0; i < problem::kOperands; ++i) {
        const Operand& operand = problem::kOperand[i];
        if (operand.output && !operand.read) continue;
        std::byte* const data = cutter_.take(operand.bytes);
        if (s == 0)
          fill(operand, data, random);
        else
          std::memcpy(data, pristine(i), operand.bytes);
        (operand.output ? set.given : set.operand)[i] = data;
      }
      problem::set_outputs(set, outputs[static_cast<std::size_t>(s % outputs_)]);
      set.workspace = workspaces[static_cast<std::size_t>(s % kWorkspaces)];
      if (problem::kPreparedBytes > 0) set.prepared = cutter_.take(problem::kPreparedBytes);
      sets_.push_back(set);
    }
  }

  std::size_t size() const { return sets_.size(); }
  int outputs() const { return outputs_; }
  const problem::Buffers& operator[](std::size_t index) const { return sets_[index]; }

  // Inputs that are not cold are as the producer left them: written just now. So is what outputs hold
  // that are also read.
  void freshen(std::size_t s) const {
    for (std::size_t i = 0; i < problem::kOperands && s != 0; ++i) {
      const Operand& operand = problem::kOperand[i];
      if (!operand.cold && !operand.output)
        std::memcpy(sets_[s].operand[i], sets_.front().operand[i], operand.bytes);
    }
    give(sets_[s]);
  }
  void drop_from_caches(std::size_t s) const {
    if (!plan_.flush) return;
    for (std::size_t i = 0; i < problem::kOperands; ++i)
      if (problem::kOperand[i].cold)
        flush(static_cast<const std::byte*>(sets_[s].operand[i]), problem::kOperand[i].bytes);
    if (problem::kPreparedBytes > 0)
      flush(static_cast<const std::byte*>(sets_[s].prepared), problem::kPreparedBytes);
  }

 private:
  const void* pristine(std::size_t operand) const {
    const problem::Buffers& first = sets_.front();
    return (problem::kOperand[operand].output ? first.given : first.operand)[operand];
  }
  static int output_ring(int sets) {
    int ring = static_cast<int>(std::clamp<std::size_t>(
        kRingBytes / std::max<std::size_t>(problem::kOutputBytes, 1), 2,
        static_cast<std::size_t>(sets)));
    while (sets % ring != 0) --ring;
    return ring;
  }
  std::size_t room() const {
    std::size_t set = Cutter::room(problem::kPreparedBytes);
    for (const Operand& operand : problem::kOperand)
      if (!operand.output || operand.read) set += Cutter::room(operand.bytes);
    return kBesideBytes + static_cast<std::size_t>(plan_.sets) * set +
           static_cast<std::size_t>(outputs_) * Cutter::room(problem::kOutputBytes) +
           kWorkspaces * Cutter::room(problem::kWorkspaceBytes);
  }

  Plan plan_;
  int outputs_;
  Memory memory_;
  Cutter cutter_;
  std::vector<problem::Buffers> sets_;
};

// --- How long does it take? ---------------------------------------------------------------------

double now_ns() {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now().time_since_epoch())
                                 .count());
}

void run(const problem::Buffers& set) {
  if (const int code = problem::launch(set); code != 0) {
    std::fprintf(stderr, "caller: the kernel returned %d\n", code);
    std::exit(2);
  }
}

bool wrote_beside(const problem::Buffers& set) {
  const auto* const outputs = static_cast<const std::byte*>(problem::outputs_of(set));
  for (const std::byte* const from : {outputs - kBesideBytes, outputs + problem::kOutputBytes})
    for (std::size_t i = 0; i < kBesideBytes; ++i)
      if (from[i] != std::byte{0}) {
        std::printf("wrong: a byte was written %s of the outputs, %td from their start\n",
                    from < outputs ? "ahead" : "past the end", from + i - outputs);
        return true;
      }
  return false;
}

// Bursts of launches behind one another, each on the next set.
void time_it(const Sets& sets, double seconds) {
  const std::size_t most =
      problem::kIsolated ? 1
                         : std::min(sets.size() / 2, static_cast<std::size_t>(sets.outputs()));
  double launch_ns = 0;
  for (std::size_t s = 0; s < std::min<std::size_t>(sets.size(), 8); ++s) {
    const double start = now_ns();
    run(sets[s]);
    launch_ns = now_ns() - start;
  }
  const double least_ns = problem::kThreads > 1 ? 1e6 : 30e3;
  const auto burst = static_cast<std::size_t>(std::clamp(
      std::ceil(least_ns / std::max(launch_ns, 1.0)), 1.0, static_cast<double>(most)));
  std::vector<double> times;
  std::size_t cursor = 0;
  const double end = now_ns() + seconds * 1e9;
  while (now_ns() < end || times.size() < 10) {
    const auto at = [&](std::size_t i) {
      return problem::kWarm ? 0 : (cursor + i) % sets.size();
    };
    for (std::size_t i = 0; i < burst; ++i) sets.freshen(at(i));
    if (problem::kWarm) run(sets[0]);
    const double start = now_ns();
    for (std::size_t i = 0; i < burst; ++i) run(sets[at(i)]);
    times.push_back((now_ns() - start) / static_cast<double>(burst));
    for (std::size_t i = 0; i < burst; ++i) sets.drop_from_caches(at(i));
    cursor += burst;
  }
  const auto us = [&](double share) { return quantile(times, share) * 1e-3; };
  std::printf("%.4g us a launch: median of %zu bursts of %zu, the middle half %.4g to %.4g us\n",
              us(0.5), times.size(), burst, us(0.25), us(0.75));
  say_recorded(us(0.5));
}

// To the first cores that this process may use, as many as the kernel had.
void pin() {
  cpu_set_t mine, first;
  CPU_ZERO(&first);
  if (sched_getaffinity(0, sizeof(mine), &mine) != 0) return;
  for (int core = 0, taken = 0; core < CPU_SETSIZE && taken < problem::kThreads; ++core) {
    if (!CPU_ISSET(core, &mine)) continue;
    CPU_SET(core, &first);
    ++taken;
  }
  sched_setaffinity(0, sizeof(first), &first);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = seconds_of(argc, argv);
  pin();
  std::printf("%s, %s\n", problem::kName, problem::kKernel);
  const Sets sets(plan_of());
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (const int code = problem::prepare(sets[s]); code != 0) {
      std::fprintf(stderr, "caller: preparing returned %d\n", code);
      return 2;
    }
  }
  const auto launch_and_check = [&](const problem::Buffers& set, bool says_right) {
    std::memset(problem::outputs_of(set), 0xff, problem::kOutputBytes);
    give(set);
    run(set);
    return wrote_beside(set) ? 1 : check(set, says_right);
  };
  if (const int code = launch_and_check(sets[0], true); code != 0) return code;
  if (seconds > 0) time_it(sets, seconds);
  // A later launch is to be as right as the first one.
  return launch_and_check(sets[sets.size() - 1], false);
}
