#include "testing/fake_cuda/fake_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "assay/device/cuda/abi.h"
#include "testing/fake_cuda/fake_kernels.h"
#include "testing/fake_cuda/memory.h"
#include "testing/fake_cuda/orders.h"
#include "testing/fake_cuda/visible_cards.h"

// Whoever links the library under test has these names too: they stay inside.
namespace {

namespace abi = assay::cuda::abi;
using abi::Address;
using abi::Result;

constexpr Result kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED.

struct FakeEvent {
  bool recorded = false, passed = false;
  uint64_t at_ns = 0;
};

struct FakeFunction {
  std::string name;
  const fake_cuda::HostKernel* kernel = nullptr;
  int dynamic_shared = 48 << 10;
};

struct FakeModule {
  std::map<std::string, FakeFunction> functions;
};

template <class T>
T field_at(const char* bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

// Of an ELF file as compilers write it: the functions that have code in it ("extern "C"" ones, so
// that their sections are ".text." and the name) and that are known here. Nothing of 64 bits: none.
std::map<std::string, FakeFunction> functions_of_cubin(const char* image) {
  std::map<std::string, FakeFunction> functions;
  if (image[4] != 2) return functions;
  const char* sections = image + field_at<uint64_t>(image, 0x28);
  const size_t bytes = field_at<uint16_t>(image, 0x3a), count = field_at<uint16_t>(image, 0x3c);
  const char* strings = sections + bytes * field_at<uint16_t>(image, 0x3e);
  const char* names = image + field_at<uint64_t>(strings, 0x18);
  for (size_t i = 0; i < count; ++i) {
    const std::string name = names + field_at<uint32_t>(sections + i * bytes, 0);
    if (!name.starts_with(".text.")) continue;
    if (const auto* kernel = fake_cuda::find_kernel(name.substr(6)))
      functions[kernel->name] = {kernel->name, kernel};
  }
  return functions;
}

// An operation returns whether it could be done: a closed gate cannot.
struct Operation {
  std::function<bool()> run;
  bool is_launch = false;
  bool overtakes = false;  // A launch that does not wait for the launch ahead of it.
};

struct FakeStream {
  std::deque<Operation> queue;
  bool captures = false;
  std::vector<Operation> captured;
};

struct FakeGraph {
  std::vector<Operation> operations;
};

class Machine {
 public:
  static Machine& get() {
    static Machine machine;
    return machine;
  }

  std::recursive_mutex mutex;
  std::vector<abi::Device> cards = {0};  // Those that are visible, by their ordinals.
  uint64_t now_ns = 0;
  fake::Calls calls;
  std::map<std::string, uint64_t> launch_ns;
  std::string hang, losing;
  std::ofstream loss;  // Opened before a worker gives up its rights; not empty: the card is lost.
  Result dead = abi::kSuccess;  // A sticky error: every later call returns it.
  fake_cuda::Memory memory;

  // Before every entry point: what it returns instead, if it is to fail.
  Result enter(const char* entry) {
    const Result code = calls.enter(entry);
    if (dead != abi::kSuccess) return dead;
    if (sticky(code)) dead = code;
    return code;
  }

  static bool sticky(Result code) {
    return code >= abi::kIllegalAddress && code <= abi::kLaunchFailed &&
           code != abi::kLaunchOutOfResources;
  }

  void pump(FakeStream& stream) {
    while (!stream.queue.empty()) {
      if (stream.queue.size() > 1 && stream.queue[1].overtakes && stream.queue[0].is_launch &&
          !stream.queue[0].overtakes)
        std::swap(stream.queue[0], stream.queue[1]);
      if (!stream.queue.front().run()) return;
      stream.queue.pop_front();
    }
  }

 private:
  Machine() {
    int there = 1;
    bool pin_is_ignored = false;
    for (const std::string& word : fake::orders("ASSAY_FAKE_CUDA", "fake_cuda.txt")) {
      const std::string value = fake::value_of(word);
      if (word.starts_with("cards=")) there = std::atoi(value.c_str());
      if (word.starts_with("hang=")) hang = value;
      if (word.starts_with("lost=")) losing = value;
      if (word == "caches=all") fake_cuda::caches_keep_everything = true;
      if (word == "pin=ignored") pin_is_ignored = true;
      if (word == "memory=shared") memory.share_in(fake::order_folder());
      if (word.starts_with("ns="))
        launch_ns[value.substr(0, value.find(':'))] =
            static_cast<uint64_t>(std::atoll(value.substr(value.find(':') + 1).c_str()));
      if (word.starts_with("fail=")) calls.fail(value);
    }
    if (pin_is_ignored) ::unsetenv("CUDA_VISIBLE_DEVICES");
    cards = fake_cuda::visible_cards(there);
    if (losing.empty()) return;
    const std::string mark = fake::order_folder() + "/lost";
    if (std::ifstream(mark).peek() != std::ifstream::traits_type::eof()) cards.clear();
    loss.open(mark, std::ios::app);
  }
};

FakeStream& stream_of(abi::Stream stream) {
  static FakeStream null_stream;
  return stream == nullptr ? null_stream : *reinterpret_cast<FakeStream*>(stream);
}

Result enqueue(abi::Stream stream, Operation operation) {
  FakeStream& queue = stream_of(stream);
  if (queue.captures) {
    queue.captured.push_back(std::move(operation));
    return abi::kSuccess;
  }
  queue.queue.push_back(std::move(operation));
  Machine::get().pump(queue);
  return Machine::get().dead;
}

Result enqueue(abi::Stream stream, std::function<bool()> run) {
  return enqueue(stream, Operation{std::move(run)});
}

// `run` returns what it takes besides the time that is set for the function, or fake_cuda::kFault.
Result launch(Machine& machine, abi::Stream stream, const std::string& function,
              std::function<uint64_t()> run, bool overtakes) {
  const auto ns = machine.launch_ns.find(function);
  const uint64_t takes = ns == machine.launch_ns.end() ? 1000 : ns->second;
  if (machine.losing == function) {
    machine.loss << "lost" << std::flush;
    return machine.dead = abi::kNoDevice;
  }
  if (machine.hang == function) return enqueue(stream, [] { return false; });
  Operation operation;
  operation.run = [run = std::move(run), takes, &machine] {
    const uint64_t more = run();
    if (more == fake_cuda::kFault) machine.dead = abi::kIllegalAddress;
    machine.now_ns += more == fake_cuda::kFault ? 0 : takes + more;
    return true;
  };
  operation.is_launch = true;
  operation.overtakes = overtakes;
  return enqueue(stream, std::move(operation));
}

// A launch that never ends holds its stream as a closed gate does.
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

}  // namespace

void fake_cuda_fail(const char* entry_point, int code, int nth) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.mutex);
  machine.calls.fail(entry_point, code, static_cast<uint64_t>(nth));
}

void fake_cuda_set_launch_ns(const char* function, uint64_t ns) {
  Machine::get().launch_ns[function] = ns;
}

uint64_t fake_cuda_calls(const char* entry_point) {
  return Machine::get().calls.count(entry_point);
}

uint64_t fake_cuda_allocated() { return Machine::get().memory.allocated(); }

#define FAKE_ENTER(entry)                    \
  Machine& machine = Machine::get();         \
  const std::lock_guard lock(machine.mutex); \
  if (const Result failed = machine.enter(entry); failed != abi::kSuccess) return failed

int fake_cuda_launch(void* stream, const char* function, const std::function<void()>& run) {
  FAKE_ENTER("fake_cuda_launch");
  return launch(
      machine, static_cast<abi::Stream>(stream), function, [run]() -> uint64_t { return run(), 0; },
      false);
}

extern "C" {

Result cuInit(unsigned) {
  FAKE_ENTER("cuInit");
  return machine.cards.empty() ? abi::kNoDevice : abi::kSuccess;
}
Result cuDriverGetVersion(int* version) {
  FAKE_ENTER("cuDriverGetVersion");
  *version = 13000;
  return abi::kSuccess;
}
Result cuDeviceGetCount(int* count) {
  FAKE_ENTER("cuDeviceGetCount");
  *count = static_cast<int>(machine.cards.size());
  return abi::kSuccess;
}
Result cuDeviceGet(abi::Device* device, int ordinal) {
  FAKE_ENTER("cuDeviceGet");
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= machine.cards.size())
    return abi::kNoDevice + 1;
  *device = machine.cards[static_cast<size_t>(ordinal)];
  return abi::kSuccess;
}
Result cuDeviceGetName(char* name, int length, abi::Device) {
  FAKE_ENTER("cuDeviceGetName");
  std::strncpy(name, "Fake H200", static_cast<size_t>(length));
  return abi::kSuccess;
}
Result cuDeviceGetUuid_v2(abi::Uuid* uuid, abi::Device device) {
  FAKE_ENTER("cuDeviceGetUuid_v2");
  *uuid = fake_cuda::uuid_of(device);
  return abi::kSuccess;
}
Result cuDeviceGetAttribute(int* value, int attribute, abi::Device) {
  FAKE_ENTER("cuDeviceGetAttribute");
  static const std::map<int, int> values = {{abi::kClockRateKhz, 1'980'000},
                                            {abi::kMultiprocessors, 132},
                                            {abi::kMemoryClockRateKhz, 3'201'000},
                                            {abi::kMemoryBusBits, 6144},
                                            {abi::kL2CacheBytes, 1 << 20},
                                            {abi::kCapabilityMajor, 9},
                                            {abi::kCapabilityMinor, 0},
                                            {abi::kSharedBytesPerMultiprocessor, 233'472},
                                            {abi::kMostSharedBytesPerBlock, 232'448}};
  const auto found = values.find(attribute);
  if (found == values.end()) return abi::kInvalidValue;
  *value = found->second;
  return abi::kSuccess;
}
Result cuDeviceTotalMem_v2(size_t* bytes, abi::Device) {
  FAKE_ENTER("cuDeviceTotalMem_v2");
  *bytes = fake_cuda::Memory::kBytes;
  return abi::kSuccess;
}
Result cuDeviceGetPCIBusId(char* id, int length, abi::Device device) {
  FAKE_ENTER("cuDeviceGetPCIBusId");
  const std::string text = "0000:0" + std::to_string(device) + ":00.0";
  std::strncpy(id, text.c_str(), static_cast<size_t>(length));
  return abi::kSuccess;
}
Result cuDevicePrimaryCtxRetain(abi::Context* context, abi::Device) {
  FAKE_ENTER("cuDevicePrimaryCtxRetain");
  *context = reinterpret_cast<abi::Context>(&machine);
  return abi::kSuccess;
}
Result cuDevicePrimaryCtxRelease_v2(abi::Device) {
  FAKE_ENTER("cuDevicePrimaryCtxRelease_v2");
  return abi::kSuccess;
}
Result cuCtxSetCurrent(abi::Context) {
  FAKE_ENTER("cuCtxSetCurrent");
  return abi::kSuccess;
}
Result cuCtxSynchronize() {
  FAKE_ENTER("cuCtxSynchronize");
  return abi::kSuccess;
}
Result cuCtxResetPersistingL2Cache() {
  FAKE_ENTER("cuCtxResetPersistingL2Cache");
  return abi::kSuccess;
}
Result cuMemGetInfo_v2(size_t* free, size_t* total) {
  FAKE_ENTER("cuMemGetInfo_v2");
  *total = fake_cuda::Memory::kBytes;
  *free = fake_cuda::Memory::kBytes - machine.memory.allocated();
  return abi::kSuccess;
}
Result cuMemAlloc_v2(Address* address, size_t bytes) {
  FAKE_ENTER("cuMemAlloc_v2");
  if (bytes == 0) return abi::kInvalidValue;
  *address = machine.memory.allocate(bytes);
  return *address == 0 ? abi::kOutOfMemory : abi::kSuccess;
}
Result cuMemFree_v2(Address address) {
  FAKE_ENTER("cuMemFree_v2");
  return machine.memory.release(address) ? abi::kSuccess : abi::kInvalidValue;
}
Result cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  FAKE_ENTER("cuMemHostAlloc");
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *memory == nullptr ? abi::kOutOfMemory : abi::kSuccess;
}
Result cuMemFreeHost(void* memory) {
  FAKE_ENTER("cuMemFreeHost");
  std::free(memory);
  return abi::kSuccess;
}
Result cuMemHostGetDevicePointer_v2(Address* address, void* memory, unsigned) {
  FAKE_ENTER("cuMemHostGetDevicePointer_v2");
  *address = reinterpret_cast<Address>(memory);
  return abi::kSuccess;
}
Result cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
  FAKE_ENTER("cuMemcpyHtoD_v2");
  if (!machine.memory.holds(to, bytes)) return abi::kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return abi::kSuccess;
}
Result cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
  FAKE_ENTER("cuMemcpyDtoH_v2");
  if (!machine.memory.holds(from, bytes)) return abi::kInvalidValue;
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return abi::kSuccess;
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, abi::Stream stream) {
  FAKE_ENTER("cuMemcpyDtoDAsync_v2");
  return enqueue(stream, [=] {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return true;
  });
}
Result cuMemsetD32Async(Address to, unsigned value, size_t words, abi::Stream stream) {
  FAKE_ENTER("cuMemsetD32Async");
  return enqueue(stream, [=] {
    std::fill_n(reinterpret_cast<unsigned*>(to), words, value);
    return true;
  });
}
Result cuMemsetD8Async(Address to, unsigned char value, size_t bytes, abi::Stream stream) {
  FAKE_ENTER("cuMemsetD8Async");
  return enqueue(stream, [=] {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return true;
  });
}
Result cuMemGetAddressRange_v2(Address* start, size_t* bytes, Address address) {
  FAKE_ENTER("cuMemGetAddressRange_v2");
  return machine.memory.range(address, *start, *bytes) ? abi::kSuccess : abi::kInvalidValue;
}
Result cuIpcGetMemHandle(abi::IpcMemory* handle, Address address) {
  FAKE_ENTER("cuIpcGetMemHandle");
  return machine.memory.share(address, *handle) ? abi::kSuccess : kNotSupported;
}
Result cuIpcOpenMemHandle_v2(Address* address, abi::IpcMemory handle, unsigned) {
  FAKE_ENTER("cuIpcOpenMemHandle_v2");
  *address = machine.memory.open(handle);
  return *address == 0 ? kNotSupported : abi::kSuccess;
}
Result cuIpcCloseMemHandle(Address address) {
  FAKE_ENTER("cuIpcCloseMemHandle");
  return machine.memory.close(address) ? abi::kSuccess : abi::kInvalidValue;
}
Result cuStreamCreate(abi::Stream* stream, unsigned) {
  FAKE_ENTER("cuStreamCreate");
  *stream = reinterpret_cast<abi::Stream>(new FakeStream);
  return abi::kSuccess;
}
Result cuStreamDestroy_v2(abi::Stream stream) {
  FAKE_ENTER("cuStreamDestroy_v2");
  delete reinterpret_cast<FakeStream*>(stream);
  return abi::kSuccess;
}
Result cuStreamSynchronize(abi::Stream stream) {
  { FAKE_ENTER("cuStreamSynchronize"); }
  return wait_for(stream);
}
Result cuStreamQuery(abi::Stream stream) {
  FAKE_ENTER("cuStreamQuery");
  machine.pump(stream_of(stream));
  return stream_of(stream).queue.empty() ? abi::kSuccess : abi::kNotReady;
}
Result cuStreamWaitValue32_v2(abi::Stream stream, Address address, unsigned value, unsigned) {
  FAKE_ENTER("cuStreamWaitValue32_v2");
  return enqueue(stream, [=] {
    const auto* word = reinterpret_cast<const volatile uint32_t*>(address);
    return static_cast<int32_t>(*word - value) >= 0;
  });
}
Result cuStreamBeginCapture_v2(abi::Stream stream, int) {
  FAKE_ENTER("cuStreamBeginCapture_v2");
  if (stream_of(stream).captures) return abi::kInvalidValue;
  stream_of(stream).captures = true;
  return abi::kSuccess;
}
Result cuStreamEndCapture(abi::Stream stream, abi::Graph* graph) {
  FAKE_ENTER("cuStreamEndCapture");
  FakeStream& recorded = stream_of(stream);
  if (!recorded.captures) return abi::kInvalidValue;
  recorded.captures = false;
  *graph = reinterpret_cast<abi::Graph>(new FakeGraph{std::move(recorded.captured)});
  recorded.captured.clear();
  return abi::kSuccess;
}
Result cuGraphInstantiateWithFlags(abi::GraphExec* exec, abi::Graph graph, unsigned long long) {
  FAKE_ENTER("cuGraphInstantiateWithFlags");
  *exec = reinterpret_cast<abi::GraphExec>(new FakeGraph(*reinterpret_cast<FakeGraph*>(graph)));
  return abi::kSuccess;
}
Result cuGraphUpload(abi::GraphExec, abi::Stream) {
  FAKE_ENTER("cuGraphUpload");
  return abi::kSuccess;
}
Result cuGraphLaunch(abi::GraphExec exec, abi::Stream stream) {
  FAKE_ENTER("cuGraphLaunch");
  for (const Operation& operation : reinterpret_cast<FakeGraph*>(exec)->operations)
    if (const Result code = enqueue(stream, operation); code != abi::kSuccess) return code;
  return abi::kSuccess;
}
Result cuGraphExecDestroy(abi::GraphExec exec) {
  FAKE_ENTER("cuGraphExecDestroy");
  delete reinterpret_cast<FakeGraph*>(exec);
  return abi::kSuccess;
}
Result cuGraphDestroy(abi::Graph graph) {
  FAKE_ENTER("cuGraphDestroy");
  delete reinterpret_cast<FakeGraph*>(graph);
  return abi::kSuccess;
}
Result cuEventCreate(abi::Event* event, unsigned) {
  FAKE_ENTER("cuEventCreate");
  *event = reinterpret_cast<abi::Event>(new FakeEvent);
  return abi::kSuccess;
}
Result cuEventDestroy_v2(abi::Event event) {
  FAKE_ENTER("cuEventDestroy_v2");
  delete reinterpret_cast<FakeEvent*>(event);
  return abi::kSuccess;
}
Result cuEventRecord(abi::Event event, abi::Stream stream) {
  FAKE_ENTER("cuEventRecord");
  auto* recorded = reinterpret_cast<FakeEvent*>(event);
  recorded->recorded = true;
  recorded->passed = false;
  return enqueue(stream, [recorded, &machine] {
    recorded->passed = true;
    recorded->at_ns = machine.now_ns;
    return true;
  });
}
Result cuEventSynchronize(abi::Event event) {
  FAKE_ENTER("cuEventSynchronize");
  return reinterpret_cast<FakeEvent*>(event)->passed ? abi::kSuccess : abi::kNotReady;
}
Result cuEventQuery(abi::Event event) {
  FAKE_ENTER("cuEventQuery");
  const auto* asked = reinterpret_cast<FakeEvent*>(event);
  return !asked->recorded || asked->passed ? abi::kSuccess : abi::kNotReady;
}
Result cuEventElapsedTime(float* milliseconds, abi::Event start, abi::Event end) {
  FAKE_ENTER("cuEventElapsedTime");
  const auto* from = reinterpret_cast<FakeEvent*>(start);
  const auto* to = reinterpret_cast<FakeEvent*>(end);
  if (!from->recorded || !to->recorded) return 400;  // CUDA_ERROR_INVALID_HANDLE.
  if (!from->passed || !to->passed) return abi::kNotReady;
  *milliseconds = static_cast<float>(static_cast<double>(to->at_ns - from->at_ns) * 1e-6);
  return abi::kSuccess;
}
Result cuModuleLoadDataEx(abi::Module* module, const void* image, unsigned options, int* names,
                          void** values) {
  FAKE_ENTER("cuModuleLoadDataEx");
  const auto say = [&](const char* text) {
    size_t room = 0;
    char* log = nullptr;
    for (unsigned i = 0; i < options; ++i) {
      if (names[i] == abi::kJitErrorLogBuffer) log = static_cast<char*>(values[i]);
      if (names[i] == abi::kJitErrorLogBytes) room = reinterpret_cast<size_t>(values[i]);
    }
    if (log != nullptr && room > 0) {
      std::strncpy(log, text, room - 1);
      log[room - 1] = '\0';
    }
  };
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    auto functions = functions_of_cubin(static_cast<const char*>(image));
    if (functions.empty()) return abi::kNoBinaryForGpu;
    *module = reinterpret_cast<abi::Module>(new FakeModule{std::move(functions)});
    return abi::kSuccess;
  }
  std::istringstream words(std::string(static_cast<const char*>(image)));
  for (std::string comment; words.peek() == '/';) std::getline(words, comment);
  std::string word;
  words >> word;
  const bool is_ptx = word == ".version";
  if (word != "fake" && !is_ptx) {
    say("ptxas: no fake code");
    return abi::kInvalidPtx;
  }
  auto* loaded = new FakeModule;
  for (bool named = !is_ptx; words >> word; named = !is_ptx || word == ".entry")
    if (named)
      if (const auto* kernel = fake_cuda::find_kernel(word.substr(0, word.find('('))))
        loaded->functions[kernel->name] = {kernel->name, kernel};
  if (is_ptx && loaded->functions.empty()) {
    say("ptxas: no fake code");
    delete loaded;
    return abi::kInvalidPtx;
  }
  *module = reinterpret_cast<abi::Module>(loaded);
  return abi::kSuccess;
}
Result cuModuleUnload(abi::Module module) {
  FAKE_ENTER("cuModuleUnload");
  delete reinterpret_cast<FakeModule*>(module);
  return abi::kSuccess;
}
Result cuModuleGetFunction(abi::Function* function, abi::Module module, const char* name) {
  FAKE_ENTER("cuModuleGetFunction");
  auto& functions = reinterpret_cast<FakeModule*>(module)->functions;
  const auto found = functions.find(name);
  if (found == functions.end()) return abi::kNotFound;
  *function = reinterpret_cast<abi::Function>(&found->second);
  return abi::kSuccess;
}
Result cuFuncGetAttribute(int* value, int attribute, abi::Function) {
  FAKE_ENTER("cuFuncGetAttribute");
  *value = attribute == abi::kRegisters ? 32 : attribute == abi::kMostThreadsPerBlock ? 1024 : 0;
  return abi::kSuccess;
}
Result cuFuncGetParamInfo(abi::Function function, size_t index, size_t* offset, size_t* bytes) {
  FAKE_ENTER("cuFuncGetParamInfo");
  const auto& parameters = reinterpret_cast<FakeFunction*>(function)->kernel->parameter_bytes;
  if (index >= parameters.size()) return abi::kInvalidValue;
  *offset = 8 * index;
  *bytes = parameters[index];
  return abi::kSuccess;
}
Result cuFuncSetAttribute(abi::Function function, int attribute, int value) {
  FAKE_ENTER("cuFuncSetAttribute");
  if (attribute == abi::kMostDynamicSharedBytes) {
    if (value > 232'448) return abi::kInvalidValue;
    reinterpret_cast<FakeFunction*>(function)->dynamic_shared = value;
  }
  return abi::kSuccess;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, abi::Function, int, size_t) {
  FAKE_ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = 2;
  return abi::kSuccess;
}
Result cuLaunchKernelEx(const abi::LaunchConfig* config, abi::Function function, void** parameters,
                        void**) {
  FAKE_ENTER("cuLaunchKernelEx");
  const auto* asked = reinterpret_cast<FakeFunction*>(function);
  const uint64_t threads = uint64_t{config->block_x} * config->block_y * config->block_z;
  if (threads == 0 || threads > 1024 || config->grid_x == 0) return abi::kInvalidValue;
  if (config->shared_bytes > static_cast<unsigned>(asked->dynamic_shared))
    return abi::kInvalidValue;
  // Like a card, it reads the parameters now and the memory behind them later.
  const auto& sizes = asked->kernel->parameter_bytes;
  std::vector<uint64_t> values(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) std::memcpy(&values[i], parameters[i], sizes[i]);
  std::vector<abi::LaunchAttribute> attributes(config->attributes,
                                               config->attributes + config->attribute_count);
  const bool dependent = std::ranges::any_of(attributes, [](const auto& attribute) {
    return attribute.id == abi::kAttributeProgrammaticSerialization &&
           attribute.value.programmatic_serialization_allowed != 0;
  });
  const auto run = [config = *config, attributes, values, asked]() mutable {
    config.attributes = attributes.data();
    std::vector<void*> pointers;
    for (uint64_t& value : values) pointers.push_back(&value);
    return asked->kernel->run(config, pointers.data());
  };
  return launch(machine, config->stream, asked->name, run,
                dependent && asked->name.ends_with("_no_wait"));
}
Result cuTensorMapEncodeTiled(abi::TensorMap* map, int type, uint32_t rank, void* address,
                              const uint64_t* sizes, const uint64_t*, const uint32_t* box,
                              const uint32_t*, int, int, int, int) {
  FAKE_ENTER("cuTensorMapEncodeTiled");
  if (rank == 0 || rank > 5 || reinterpret_cast<uintptr_t>(address) % 16 != 0)
    return abi::kInvalidValue;
  for (uint32_t i = 0; i < rank; ++i)
    if (sizes[i] == 0 || box[i] == 0 || box[i] > 256) return abi::kInvalidValue;
  map->opaque[0] = reinterpret_cast<uint64_t>(address);
  map->opaque[1] = static_cast<uint64_t>(type);
  return abi::kSuccess;
}
Result cuGetErrorName(Result code, const char** name) {
  *name = code == abi::kOutOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == abi::kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == abi::kNoDevice       ? "CUDA_ERROR_NO_DEVICE"
                                         : nullptr;
  return *name == nullptr ? abi::kInvalidValue : abi::kSuccess;
}
Result cuGetErrorString(Result code, const char** text) {
  *text = code == abi::kOutOfMemory ? "out of memory" : nullptr;
  return *text == nullptr ? abi::kInvalidValue : abi::kSuccess;
}
}
