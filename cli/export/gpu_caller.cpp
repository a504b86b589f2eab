// Calls the exported kernel on a GPU: is it right, and how long does it take? Needs a C++20 compiler,
// Linux and NVIDIA's driver; no toolkit. What the problem is stands in problem.h, what right is in
// check.h.
//
//   caller              checks, then times for two seconds in all, in five processes
//   caller --seconds 5  times for longer; 0 only checks
//
// CUDA_VISIBLE_DEVICES chooses the GPU. Exit codes: 0 right, 1 wrong, 2 the kernel or the machine
// failed.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "gpu_launch.h"
#include "check.h"

__asm__(".pushsection .rodata\n.globl gpu_caller_chain\n.hidden gpu_caller_chain\n"
        "gpu_caller_chain:\n.incbin \"chain.ptx\"\n.byte 0\n.popsection\n");
extern "C" __attribute__((visibility("hidden"))) const char gpu_caller_chain[];

namespace {

namespace driver = gpu::driver;

const driver::EntryPoints& call() {
  const driver::EntryPoints* const found = gpu::entry_points();
  if (found == nullptr) {
    std::fprintf(stderr, "caller: there is no CUDA driver (libcuda.so.1)\n");
    std::exit(2);
  }
  return *found;
}

void must(int code, const char* what) {
  if (code == 0) return;
  const char* text = nullptr;
  if (code > 0 && call().error_text != nullptr) call().error_text(code, &text);
  std::fprintf(stderr, "caller: %s: %d%s%s\n", what, code, text == nullptr ? "" : ", ",
               text == nullptr ? "" : text);
  std::exit(2);
}

// --- Memory -------------------------------------------------------------------------------------

void* on_gpu(std::size_t bytes) {
  driver::Address address = 0;
  must(call().allocate(&address, std::max<std::size_t>(bytes, 16)), "no memory on the GPU");
  return reinterpret_cast<void*>(address);
}
driver::Address address_of(const void* pointer) {
  return reinterpret_cast<driver::Address>(pointer);
}

struct Gpu {
  driver::Stream stream = nullptr;
  double cache_bytes = 0;
  std::size_t free_bytes = 0, all_bytes = 0;
  int blocks = 1;  // A wave of the chain's kernels.

  Gpu() {
    must(call().init(0), "the driver does not start");
    driver::Device device = 0;
    must(call().device_get(&device, 0), "there is no GPU");
    driver::Context context = nullptr;
    must(call().context_retain(&context, device), "the GPU gives no context");
    must(call().context_set(context), "the context cannot be set");
    must(call().stream_create(&stream, driver::kStreamNonBlocking), "no stream");
    int cache = 0, processors = 1;
    must(call().device_attribute(&cache, driver::kL2CacheBytes, device), "an attribute");
    must(call().device_attribute(&processors, driver::kMultiprocessors, device), "an attribute");
    must(call().memory_info(&free_bytes, &all_bytes), "the GPU's memory");
    cache_bytes = cache;
    blocks = 8 * processors;
  }
  void wait() const { must(call().stream_synchronize(stream), "the kernel failed"); }
};

// --- The operand sets ---------------------------------------------------------------------------

// As in a race (docs/method.md): constants lie in so many places that three caches would not hold
// them, and repeat beside activations of their own. The counts are a race's, and so is where
// things lie: at random distances in one allocation, since from addresses that are multiples of
// 2 MiB some kernels read 1 % slower.
constexpr double kCacheMultiple = 3;
constexpr int kLeastPlaces = 4, kMostPlaces = 256, kWantedSets = 64;
constexpr double kSetsBytes = 1 << 30;
constexpr std::size_t kRingBytes = std::size_t{256} << 20, kWorkspaces = 4;
constexpr std::size_t kRefreshedEach = std::size_t{64} << 20;

class Room {
 public:
  // To be had at `pointer` after allocate().
  void want(void*& pointer, std::size_t bytes) { wanted_.push_back({&pointer, bytes}); }
  void allocate(Random& random) {
    constexpr std::size_t kStep = 256, kApart = 8192;
    std::vector<std::size_t> starts;
    std::size_t end = 0;
    for (const Wanted& wanted : wanted_) {
      starts.push_back((end + kApart + kStep - 1) / kStep * kStep + random.next() % 16 * kStep);
      end = starts.back() + wanted.bytes;
    }
    std::byte* const base = static_cast<std::byte*>(on_gpu(end));
    for (std::size_t i = 0; i < wanted_.size(); ++i) *wanted_[i].pointer = base + starts[i];
  }

 private:
  struct Wanted {
    void** pointer;
    std::size_t bytes;
  };
  std::vector<Wanted> wanted_;
};

struct Sets {
  std::vector<problem::Buffers> sets;
  std::vector<void*> staged;  // In a chain: what the producer reads, by set.
  void* pristine = nullptr;   // The operand that varies, as it was filled.
  std::size_t outputs = 2;
  problem::Buffers host;      // The first set's inputs, and room for its output.
  std::vector<std::vector<std::byte>> memory;

  explicit Sets(const Gpu& gpu) {
    double cold = 0, all = 0, own = 0;
    for (const Operand& operand : problem::kOperand) {
      if (operand.output) continue;
      const auto bytes = static_cast<double>(operand.bytes);
      all += bytes;
      if (operand.cold) cold += bytes;
      if (!operand.constant) own += bytes;
    }
    own += static_cast<double>(problem::kOutputBytes);
    if (problem::kChain) own *= 2;
    int places = kLeastPlaces;
    if (cold > 0) {
      const double wanted = kCacheMultiple * gpu.cache_bytes / cold + 1;
      const double room = static_cast<double>(gpu.all_bytes) / 4 / all;
      places = std::max(places, static_cast<int>(std::min({wanted, room, double{kMostPlaces}})));
    }
    places += places % 2;
    const int beside = static_cast<int>(
        std::min(kSetsBytes / std::max(own, 1.0), static_cast<double>(kWantedSets)));
    const int count = problem::kWarm ? kWantedSets : std::max(1, beside / places) * places;
    outputs = std::clamp<std::size_t>(
        kRingBytes / std::max<std::size_t>(problem::kOutputBytes, 1), 2,
        std::max<std::size_t>(2, static_cast<std::size_t>(count)));
    while (static_cast<std::size_t>(count) % outputs != 0) --outputs;

    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    Random random(static_cast<std::uint64_t>(time.tv_sec * 1'000'000'000 + time.tv_nsec));
    for (std::size_t i = 0; i < problem::kOperands; ++i) {
      const Operand& operand = problem::kOperand[i];
      if (operand.output && !operand.read) continue;
      memory.emplace_back(operand.bytes);
      fill(operand, memory.back().data(), random);
      (operand.output ? host.given : host.operand)[i] = memory.back().data();
    }
    memory.emplace_back(problem::kOutputBytes);
    problem::set_outputs(host, memory.back().data());
    const auto size = static_cast<std::size_t>(count);
    const auto shared = [&](const Operand& operand) {
      return problem::kWarm ? 1 : operand.constant ? static_cast<std::size_t>(places) : size;
    };
    sets.resize(size);
    if (problem::kChain) staged.resize(problem::kWarm ? 1 : size);
    std::vector<void*> out(outputs), workspace(kWorkspaces);
    Room room;
    for (std::size_t s = 0; s < size; ++s)
      for (std::size_t i = 0; i < problem::kOperands; ++i) {
        const Operand& operand = problem::kOperand[i];
        if (!operand.output && s < shared(operand)) room.want(sets[s].operand[i], operand.bytes);
      }
    for (void*& to : staged) room.want(to, problem::kVariedBytes);
    if (problem::kVaries) room.want(pristine, problem::kVariedBytes);
    for (void*& to : out) room.want(to, problem::kOutputBytes);
    if (problem::kWorkspaceBytes > 0)
      for (void*& to : workspace) room.want(to, problem::kWorkspaceBytes);
    room.allocate(random);

    for (void* to : staged) put(problem::kVaried, to);
    if (problem::kVaries) put(problem::kVaried, pristine);
    for (std::size_t s = 0; s < size; ++s) {
      problem::Buffers& set = sets[s];
      for (std::size_t i = 0; i < problem::kOperands; ++i) {
        const Operand& operand = problem::kOperand[i];
        if (operand.output) continue;
        if (s < shared(operand))
          put(i, set.operand[i]);
        else
          set.operand[i] = sets[s % shared(operand)].operand[i];
      }
      problem::set_outputs(set, out[s % outputs]);
      set.workspace = workspace[s % kWorkspaces];
    }
    must(call().context_synchronize(), "copying inputs");
  }
  // Outputs of set s that are also read hold what its launch is to find there.
  void give(std::size_t s) const {
    for (std::size_t i = 0; i < problem::kOperands; ++i)
      if (problem::kOperand[i].read)
        must(call().copy_in(address_of(sets[s].operand[i]), host.given[i],
                            problem::kOperand[i].bytes),
             "copying inputs");
  }
  // What set s's launch reads as its activations, before a producer has moved it.
  void* varied(std::size_t s) const {
    return problem::kChain ? staged[s % staged.size()] : sets[s].operand[problem::kVaried];
  }

 private:
  // As the host has it.
  void put(std::size_t operand, void* to) const {
    must(call().copy_in(address_of(to), host.operand[operand], problem::kOperand[operand].bytes),
         "copying inputs");
  }
};

// --- What is timed ------------------------------------------------------------------------------

// A race's own kernels. In a chain one writes the activations of the kernel that is timed, and one
// reads its output; before each burst they write activations anew and clear the cache.
class Chain {
 public:
  explicit Chain(const Gpu& gpu)
      : gpu_(gpu), elsewhere_bytes_(static_cast<std::size_t>(kCacheMultiple * gpu.cache_bytes)) {
    driver::Module module = nullptr;
    must(call().module_load(&module, gpu_caller_chain, 0, nullptr, nullptr), "loading chain.ptx");
    must(call().module_function(&produce_, module, "assay_produce"), "chain.ptx");
    must(call().module_function(&consume_, module, "assay_consume"), "chain.ptx");
    digest_ = on_gpu(sizeof(std::uint32_t));
    const std::uint32_t zero = 0;
    must(call().copy_in(address_of(digest_), &zero, sizeof zero), "copying");
    if (!problem::kWarm) elsewhere_ = on_gpu(elsewhere_bytes_);
  }
  void produce(void* to, const void* from) const {
    std::uint64_t bytes = problem::kVariedBytes, hold = 0;
    std::uint32_t mask = 0;
    void* digest = digest_;
    void* parameters[] = {&to, &from, &bytes, &digest, &mask, &hold};
    launch(produce_, bytes, false, parameters);
  }
  void consume(const void* from, bool dependent) const {
    read(from, problem::kOutputBytes, dependent);
  }
  // By reading so much else. What a burst leaves in the cache, lines not yet written to memory above
  // all, slows down the next one.
  void clear_cache() const {
    if (elsewhere_ != nullptr) read(elsewhere_, elsewhere_bytes_, false);
  }

 private:
  void read(const void* from, std::uint64_t bytes, bool dependent) const {
    void* digest = digest_;
    void* parameters[] = {&from, &bytes, &digest};
    launch(consume_, bytes, dependent, parameters);
  }
  void launch(driver::Function function, std::uint64_t bytes, bool dependent,
              void** parameters) const {
    constexpr unsigned kThreads = 256;
    driver::LaunchAttribute attribute{};
    attribute.id = driver::kAttributeProgrammaticSerialization;
    attribute.value.programmatic_serialization_allowed = 1;
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(
        bytes / 16 / kThreads + 1, static_cast<std::uint64_t>(gpu_.blocks)));
    const driver::LaunchConfig config = {
        blocks, 1, 1, kThreads, 1, 1, 0, gpu_.stream, &attribute, dependent ? 1U : 0U};
    must(call().launch(&config, function, parameters, nullptr), "launching the chain");
  }

  const Gpu& gpu_;
  driver::Function produce_ = nullptr, consume_ = nullptr;
  void *digest_ = nullptr, *elsewhere_ = nullptr;
  std::size_t elsewhere_bytes_;
};

// Holds the stream back while launches are enqueued, so that the host cannot starve them.
class Gate {
 public:
  Gate() {
    void* memory = nullptr;
    must(call().allocate_host(&memory, sizeof(std::uint32_t), driver::kHostAllocMapped), "memory");
    word_ = static_cast<volatile std::uint32_t*>(memory);
    *word_ = 0;
    must(call().host_address(&address_, memory, 0), "mapped memory");
  }
  void close(driver::Stream stream) {
    must(call().stream_wait_value(stream, address_, ++turn_, driver::kWaitValueAtLeast), "a gate");
  }
  void open() { *word_ = turn_; }

 private:
  volatile std::uint32_t* word_ = nullptr;
  driver::Address address_ = 0;
  std::uint32_t turn_ = 0;
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Of a process. ns: a launch's; link_ns: in a chain, of the kernels around it, taken off.
struct Times {
  double ns = 0, link_ns = 0;
  std::size_t bursts = 0, burst = 0;
};

class Timer {
 public:
  Timer(const Gpu& gpu, const Sets& sets) : gpu_(gpu), sets_(sets), chain_(gpu) {
    must(call().event_create(&start_, driver::kEventDefault), "an event");
    must(call().event_create(&end_, driver::kEventDefault), "an event");
  }

  Times run(double seconds) {
    const std::size_t most =
        std::max<std::size_t>(1, std::min(sets_.sets.size() / 2, sets_.outputs - 1));
    const std::size_t burst = std::min(problem::kBurst, most);
    const std::size_t bare_burst = std::min(problem::kBareBurst, sets_.sets.size() / 2);
    // The driver loads code at its first launch, and would wait for a closed gate.
    enqueue(0, true);
    gpu_.wait();
    std::vector<double> times, bare;
    const double until = now() + seconds;
    while (now() < until || times.size() < 10) {
      times.push_back(time(burst, true));
      if (problem::kChain) bare.push_back(time(bare_burst, false));
    }
    const double link_ns = bare.empty() ? 0 : quantile(bare, 0.5);
    return {quantile(times, 0.5) - link_ns, link_ns, times.size(), burst};
  }

 private:
  void enqueue(std::size_t s, bool kernel) const {
    const problem::Buffers& set = sets_.sets[s];
    if (problem::kChain) chain_.produce(set.operand[problem::kVaried], sets_.varied(s));
    if (kernel) must(problem::launch(set, gpu_.stream), "the kernel was not launched");
    // What bare links read is as near as a kernel's output.
    if (problem::kChain)
      chain_.consume(problem::outputs_of(kernel ? set : sets_.sets[s % 2]),
                     kernel && problem::kDependent);
  }
  // The cache as a race has it before each burst, also of bare links: nothing of what ran before,
  // and activations written anew, of each launch unless they are large, unless they are to be cold.
  void freshen(std::size_t burst) const {
    const bool cold = problem::kVaries && problem::kOperand[problem::kVaried].cold;
    for (std::size_t i = 0; i <= burst; ++i) sets_.give((cursor_ + i) % sets_.sets.size());
    if (!cold) chain_.clear_cache();
    refresh(burst);
    if (cold) chain_.clear_cache();
  }
  void refresh(std::size_t burst) const {
    if (!problem::kVaries) return;
    const bool each = problem::kVariedBytes <= kRefreshedEach && !problem::kWarm;
    for (std::size_t i = each ? 0 : 1; i <= (each ? burst : 1); ++i)
      chain_.produce(sets_.varied(problem::kWarm ? 0 : (cursor_ + i) % sets_.sets.size()),
                     sets_.pristine);
  }
  // Nanoseconds of a launch; one that is not timed leads in. The GPU rests before it, as it does
  // in a race while the host is at work: without, heavy kernels meet the power cap.
  double time(std::size_t burst, bool kernel) {
    constexpr timespec kRest{0, 400'000};
    nanosleep(&kRest, nullptr);
    freshen(burst);
    gate_.close(gpu_.stream);
    enqueue(cursor_++ % sets_.sets.size(), kernel);
    must(call().event_record(start_, gpu_.stream), "an event");
    for (std::size_t i = 0; i < burst; ++i) enqueue(cursor_++ % sets_.sets.size(), kernel);
    must(call().event_record(end_, gpu_.stream), "an event");
    gate_.open();
    gpu_.wait();
    float milliseconds = 0;
    must(call().event_elapsed(&milliseconds, start_, end_), "an event");
    return static_cast<double>(milliseconds) * 1e6 / static_cast<double>(burst);
  }

  const Gpu& gpu_;
  const Sets& sets_;
  Chain chain_;
  Gate gate_;
  driver::Event start_ = nullptr, end_ = nullptr;
  std::size_t cursor_ = 0;
};

// --- Processes ----------------------------------------------------------------------------------

int check_once() {
  const Gpu gpu;
  const Sets sets(gpu);
  const problem::Buffers& first = sets.sets.front();
  void* const outputs = problem::outputs_of(first);
  // A later launch is to be as right as the first one.
  for (const bool is_first : {true, false}) {
    must(call().fill_bytes(address_of(outputs), 0xff, problem::kOutputBytes, gpu.stream), "memory");
    gpu.wait();
    sets.give(0);
    must(problem::launch(first, gpu.stream), "the kernel was not launched");
    gpu.wait();
    must(
        call().copy_out(problem::outputs_of(sets.host), address_of(outputs), problem::kOutputBytes),
        "copying the output");
    if (const int code = check(sets.host, is_first); code != 0) return code;
  }
  return 0;
}

// Where operands lie moves a time by a percent: a recorded one is of several processes, too.
// Each begins without a context, and so this one never has any.
template <class Work>
int in_a_process(Work work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int code = work();
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
    std::fprintf(stderr, "caller: a process of it ended early\n");
    return 2;
  }
  return WEXITSTATUS(status);
}

int time_it(double seconds) {
  constexpr int kProcesses = 5;
  std::vector<double> us, link_us;
  std::size_t bursts = 0, burst = 0;
  for (int process = 0; process < kProcesses; ++process) {
    int ends[2];
    if (pipe(ends) != 0) {
      std::perror("caller: a pipe");
      return 2;
    }
    const int code = in_a_process([&] {
      const Gpu gpu;
      const Sets sets(gpu);
      const Times times = Timer(gpu, sets).run(seconds / kProcesses);
      return write(ends[1], &times, sizeof times) == sizeof times ? 0 : 2;
    });
    Times times;
    const bool came = code == 0 && read(ends[0], &times, sizeof times) == sizeof times;
    close(ends[0]);
    close(ends[1]);
    if (!came) return code == 0 ? 2 : code;
    us.push_back(times.ns * 1e-3);
    link_us.push_back(times.link_ns * 1e-3);
    bursts += times.bursts;
    burst = times.burst;
  }
  const double median = quantile(us, 0.5);
  std::printf("%.4g us a launch: median of %d processes, %.4g to %.4g us; %zu bursts of %zu\n",
              median, kProcesses, quantile(us, 0), quantile(us, 1), bursts, burst);
  say_recorded(median);
  if (problem::kChain)
    std::printf("in a chain: %.4g us of the kernels around it are taken off\n",
                quantile(link_us, 0.5));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = seconds_of(argc, argv);
  std::printf("%s, %s\n", problem::kName, problem::kKernel);
  if (const int code = in_a_process(check_once); code != 0) return code;
  return seconds > 0 ? time_it(seconds) : 0;
}
