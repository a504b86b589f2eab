#include "testing/fake_cuda/machine.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "testing/fake_cuda/fake_kernels.h"
#include "testing/fake_cuda/visible_gpus.h"

namespace fake_cuda {
namespace {

bool sticky(Result code) {
  return code >= abi::kIllegalAddress && code <= abi::kLaunchFailed &&
         code != abi::kLaunchOutOfResources;
}

int stops_file = -1;

// Adds a letter to a file whenever this process, which somebody had stopped, goes on.
void tell_stops(const std::string& file) {
  stops_file = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct sigaction action = {};
  action.sa_handler = [](int) { (void)!::write(stops_file, "s", 1); };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGCONT, &action, nullptr);
}

}  // namespace

Machine& Machine::get() {
  static Machine machine;
  return machine;
}

Machine::Machine() {
  int there = 1;
  bool pin_is_ignored = false;
  for (const std::string& word : fake::orders("ASSAY_FAKE_CUDA", "fake_cuda.txt")) {
    const std::string value = fake::value_of(word);
    if (word.starts_with("gpus=")) there = std::atoi(value.c_str());
    if (word.starts_with("hang=")) hang = value;
    if (word.starts_with("lost=")) losing = value;
    if (word == "caches=all") caches_keep_everything = true;
    if (word == "pin=ignored") pin_is_ignored = true;
    if (word == "memory=shared") memory.share_in(fake::order_folder());
    if (word == "stops=told") tell_stops(fake::order_folder() + "/stops");
    if (word.starts_with("ns="))
      launch_ns[value.substr(0, value.find(':'))] =
          static_cast<uint64_t>(std::atoll(value.substr(value.find(':') + 1).c_str()));
    if (word.starts_with("fail=")) calls.fail(value);
  }
  if (pin_is_ignored) ::unsetenv("CUDA_VISIBLE_DEVICES");
  gpus = visible_gpus(there);
  if (const char* file = std::getenv("FAKE_CUDA_PROFILE")) profile.open(file, std::ios::app);
  if (losing.empty()) return;
  const std::string mark = fake::order_folder() + "/lost";
  if (std::ifstream(mark).peek() != std::ifstream::traits_type::eof()) gpus.clear();
  loss.open(mark, std::ios::app);
}

Result Machine::enter(const char* entry) {
  const Result code = calls.enter(entry);
  if (dead != abi::kSuccess) return dead;
  if (sticky(code)) dead = code;
  return code;
}

void Machine::land() {
  if (const auto copy = std::exchange(staged, nullptr)) copy();
}

void Machine::pump(FakeStream& stream) {
  while (!stream.queue.empty()) {
    if (stream.queue.size() > 1 && stream.queue[1].overtakes && stream.queue[0].is_launch &&
        !stream.queue[0].overtakes)
      std::swap(stream.queue[0], stream.queue[1]);
    if (!stream.queue.front().run()) return;
    stream.queue.pop_front();
  }
}

FakeStream& stream_of(abi::Stream stream) {
  static FakeStream null_stream;
  return stream == nullptr ? null_stream : *reinterpret_cast<FakeStream*>(stream);
}

Result enqueue(abi::Stream stream, Queued what) {
  FakeStream& queue = stream_of(stream);
  if (queue.captures) {
    queue.captured.push_back(std::move(what));
    return abi::kSuccess;
  }
  queue.queue.push_back(std::move(what));
  Machine::get().pump(queue);
  return Machine::get().dead;
}

Result enqueue(abi::Stream stream, std::function<bool()> run) {
  return enqueue(stream, Queued{std::move(run)});
}

Result launch(Machine& machine, abi::Stream stream, const std::string& function,
              std::function<uint64_t()> run, bool overtakes) {
  const auto ns = machine.launch_ns.find(function);
  const uint64_t takes = ns == machine.launch_ns.end() ? 1000 : ns->second;
  if (machine.losing == function) {
    machine.loss << "lost" << std::flush;
    return machine.dead = abi::kNoDevice;
  }
  if (machine.profiles) machine.profile << function << std::endl;
  if (machine.hang == function) return enqueue(stream, [] { return false; });
  Queued queued;
  queued.run = [run = std::move(run), takes, &machine] {
    const uint64_t more = run();
    if (more == kFault) machine.dead = abi::kIllegalAddress;
    machine.now_ns += more == kFault ? 0 : takes + more;
    return true;
  };
  queued.is_launch = true;
  queued.overtakes = overtakes;
  return enqueue(stream, std::move(queued));
}

Result wait_for(abi::Stream stream) {
  FakeStream& queue = stream_of(stream);
  Machine& machine = Machine::get();
  for (;;) {
    {
      const std::lock_guard lock(machine.mutex);
      machine.pump(queue);
      if (queue.queue.empty() || machine.dead != abi::kSuccess) return machine.dead;
    }
    std::this_thread::yield();
  }
}

}  // namespace fake_cuda
