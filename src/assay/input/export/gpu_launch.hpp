// Launches device code through the CUDA driver. The driver is looked for when it is first needed,
// so that nothing is linked (-ldl where the C library is old) and no toolkit is needed; what of it
// is called stands in cuda_driver.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <mutex>

#include "cuda_driver.h"

namespace gpu {

namespace driver = assay::cuda::abi;

inline constexpr int kNoDriver = -1;       // libcuda.so.1 is not here, or too old.
inline constexpr int kOtherFunction = -2;  // The code's parameters are not those of the launch.

// Null where there is no driver.
inline const driver::EntryPoints* entry_points() {
  static const driver::EntryPoints* const found = []() -> const driver::EntryPoints* {
    static driver::EntryPoints calls;
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
#define CARD_RESOLVE(member, symbol, parameters) \
  calls.member = reinterpret_cast<decltype(calls.member)>(dlsym(library, symbol));
    ASSAY_CUDA_ENTRY_POINTS(CARD_RESOLVE)
#undef CARD_RESOLVE
    const bool complete = calls.module_load != nullptr && calls.module_function != nullptr &&
                          calls.function_parameter != nullptr &&
                          calls.set_function_attribute != nullptr &&
                          calls.function_attribute != nullptr && calls.launch != nullptr &&
                          calls.allocate != nullptr &&
                          calls.encode_tiled != nullptr;
    return complete ? &calls : nullptr;
  }();
  return found;
}

// cuTensorMapEncodeTiled's arguments, innermost dimension first; types and modes are its codes.
struct Map {
  int type;
  std::uint32_t rank;
  std::uint64_t sizes[3], step_bytes[2];
  std::uint32_t box[3];
  int swizzle, promotion;
};

struct Parameter {
  enum Kind { pointer, integer, real, tensor_map, scratch };
  Kind kind;
  int place;  // Of a pointer, and of the operand that a map is of; -1: null.
  long long whole;  // Of scratch memory, the bytes.
  double number;
  Map map;
};

struct Kernel {
  const void* image;  // A cubin, or PTX that ends in a zero.
  const char* symbol;
  unsigned grid[3], block[3], cluster[3], shared_bytes;
  bool dependent;  // Waits for what is ahead of it by itself (programmatic dependent launch).
  const Parameter* parameters;
  std::size_t count;
};

// Loads the code once, into the context that is current at the first launch. Scratch memory is
// allocated with it, and never given back: one launch at a time may be under way then.
class Launcher {
 public:
  explicit Launcher(const Kernel& kernel) : kernel_(kernel) {}

  // Returns 0, the driver's code, or one of those above.
  int operator()(void* const* data, void* stream) {
    std::call_once(once_, [this] { code_ = load(); });
    if (code_ != 0) return code_;
    const driver::EntryPoints& call = *entry_points();
    union alignas(128) Value {
      void* pointer;
      long long whole;
      int narrow;
      double number;
      float single;
      driver::TensorMap map;
    } values[kMostParameters];
    void* pointers[kMostParameters];
    for (std::size_t i = 0; i < kernel_.count; ++i) {
      const Parameter& from = kernel_.parameters[i];
      Value& to = values[i];
      void* const pointer = from.place < 0 ? nullptr : data[from.place];
      pointers[i] = &to;
      switch (from.kind) {
        case Parameter::pointer:
          to.pointer = pointer;
          break;
        case Parameter::scratch:
          to.pointer = scratch_[i];
          break;
        case Parameter::integer:
          if (bytes_[i] == 8)
            to.whole = from.whole;
          else
            to.narrow = static_cast<int>(from.whole);
          break;
        case Parameter::real:
          if (bytes_[i] == 8)
            to.number = from.number;
          else
            to.single = static_cast<float>(from.number);
          break;
        case Parameter::tensor_map: {
          constexpr std::uint32_t kEach[3] = {1, 1, 1};
          const Map& map = from.map;
          if (const int code =
                  call.encode_tiled(&to.map, map.type, map.rank, pointer, map.sizes, map.step_bytes,
                                    map.box, kEach, 0, map.swizzle, map.promotion, 0))
            return code;
          break;
        }
      }
    }
    driver::LaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (kernel_.cluster[0] * kernel_.cluster[1] * kernel_.cluster[2] > 1) {
      attributes[count].id = driver::kAttributeClusterDimension;
      attributes[count++].value.cluster = {kernel_.cluster[0], kernel_.cluster[1],
                                           kernel_.cluster[2]};
    }
    if (kernel_.dependent) {
      attributes[count].id = driver::kAttributeProgrammaticSerialization;
      attributes[count++].value.programmatic_serialization_allowed = 1;
    }
    const driver::LaunchConfig config = {kernel_.grid[0],      kernel_.grid[1],
                                         kernel_.grid[2],      kernel_.block[0],
                                         kernel_.block[1],     kernel_.block[2],
                                         kernel_.shared_bytes, static_cast<driver::Stream>(stream),
                                         attributes,           count};
    return call.launch(&config, function_, pointers, nullptr);
  }

 private:
  static constexpr std::size_t kMostParameters = 64;

  int load() {
    if (entry_points() == nullptr) return kNoDriver;
    if (kernel_.count > kMostParameters) return kOtherFunction;
    const driver::EntryPoints& call = *entry_points();
    driver::Module module = nullptr;
    if (const int code = call.module_load(&module, kernel_.image, 0, nullptr, nullptr)) return code;
    if (const int code = call.module_function(&function_, module, kernel_.symbol)) return code;
    for (std::size_t i = 0; i < kernel_.count; ++i) {
      std::size_t offset = 0;
      if (const int code = call.function_parameter(function_, i, &offset, &bytes_[i])) return code;
      const bool fits = kernel_.parameters[i].kind == Parameter::tensor_map
                            ? bytes_[i] == sizeof(driver::TensorMap)
                            : bytes_[i] == 8 || (bytes_[i] == 4 &&
                                                 kernel_.parameters[i].kind != Parameter::pointer &&
                                                 kernel_.parameters[i].kind != Parameter::scratch);
      if (!fits) return kOtherFunction;
      if (kernel_.parameters[i].kind != Parameter::scratch) continue;
      driver::Address address = 0;
      if (const int code =
              call.allocate(&address, static_cast<std::size_t>(kernel_.parameters[i].whole)))
        return code;
      scratch_[i] = reinterpret_cast<void*>(address);
    }
    // More than 48 KiB, with what is static, has to be asked for; less is not, as in a race.
    int fixed = 0;
    if (const int code = call.function_attribute(&fixed, driver::kStaticSharedBytes, function_))
      return code;
    if (kernel_.shared_bytes + static_cast<unsigned>(fixed) > (48U << 10))
      if (const int code = call.set_function_attribute(function_, driver::kMostDynamicSharedBytes,
                                                       static_cast<int>(kernel_.shared_bytes)))
        return code;
    if (kernel_.cluster[0] * kernel_.cluster[1] * kernel_.cluster[2] > 8)
      return call.set_function_attribute(function_, driver::kNonPortableClusters, 1);
    return 0;
  }

  const Kernel& kernel_;
  std::once_flag once_;
  int code_ = 0;
  driver::Function function_ = nullptr;
  std::size_t bytes_[kMostParameters] = {};
  void* scratch_[kMostParameters] = {};
};

}  // namespace GPU
