// Entry points of the fake driver: modules, their functions, launches.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/fake_cuda/fake_kernels.h"
#include "testing/fake_cuda/machine.h"

using namespace fake_cuda;  // NOLINT: the driver's own names are in no namespace.

namespace {

struct FakeFunction {
  std::string name;
  const HostKernel* kernel = nullptr;
  int dynamic_shared = 48 << 10;
};

using Functions = std::map<std::string, FakeFunction>;

struct FakeModule {
  Functions functions;
};

constexpr std::string_view kElf =
    "\x7f"
    "ELF";

template <class T>
T field_at(const char* bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

// Of an ELF file as compilers write it: the functions that have code in it (those of C, so that
// their sections are ".text." and the name) and that are known here. Nothing of 64 bits: none.
std::optional<Functions> functions_of_cubin(const char* image) {
  Functions functions;
  if (image[4] != 2) return functions;
  const char* sections = image + field_at<uint64_t>(image, 0x28);
  const size_t bytes = field_at<uint16_t>(image, 0x3a), count = field_at<uint16_t>(image, 0x3c);
  const char* strings = sections + bytes * field_at<uint16_t>(image, 0x3e);
  const char* names = image + field_at<uint64_t>(strings, 0x18);
  for (size_t i = 0; i < count; ++i) {
    const std::string name = names + field_at<uint32_t>(sections + i * bytes, 0);
    if (!name.starts_with(".text.")) continue;
    if (const auto* kernel = find_kernel(name.substr(6)))
      functions[kernel->name] = {kernel->name, kernel};
  }
  return functions;
}

// Of "fake" and names, which may be unknown here, or of PTX: its entries, one of which is known.
std::optional<Functions> functions_of_text(const char* image) {
  std::istringstream words{std::string(image)};
  for (std::string comment; words.peek() == '/';) std::getline(words, comment);
  std::string word;
  words >> word;
  const bool is_ptx = word == ".version";
  if (word != "fake" && !is_ptx) return std::nullopt;
  Functions functions;
  for (bool named = !is_ptx; words >> word; named = !is_ptx || word == ".entry")
    if (named)
      if (const auto* kernel = find_kernel(word.substr(0, word.find('('))))
        functions[kernel->name] = {kernel->name, kernel};
  if (is_ptx && functions.empty()) return std::nullopt;
  return functions;
}

// Into the caller's log, if its options name one.
void log_error(const char* text, unsigned options, const int* names, void* const* values) {
  size_t room = 0;
  char* log = nullptr;
  for (unsigned i = 0; i < options; ++i) {
    if (names[i] == abi::kJitErrorLogBuffer) log = static_cast<char*>(values[i]);
    if (names[i] == abi::kJitErrorLogBytes) room = reinterpret_cast<size_t>(values[i]);
  }
  if (log == nullptr || room == 0) return;
  std::strncpy(log, text, room - 1);
  log[room - 1] = '\0';
}

}  // namespace

extern "C" {

Result cuModuleLoadDataEx(abi::Module* module, const void* image, unsigned options, int* names,
                          void** values) {
  FAKE_ENTER("cuModuleLoadDataEx");
  const auto* text = static_cast<const char*>(image);
  const bool is_cubin = std::memcmp(image, kElf.data(), kElf.size()) == 0;
  auto functions = is_cubin ? functions_of_cubin(text) : functions_of_text(text);
  if (is_cubin && functions->empty()) return abi::kNoBinaryForGpu;
  if (!functions) {
    log_error("ptxas: no fake code", options, names, values);
    return abi::kInvalidPtx;
  }
  *module = reinterpret_cast<abi::Module>(new FakeModule{std::move(*functions)});
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
  // Like a GPU, it reads the parameters now and the memory behind them later.
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
}
