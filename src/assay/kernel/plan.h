#pragma once

// A plan: a kernel bound to an artifact and arguments, ready to launch again and again with next to
// no host cost. What runs is data (steps), so the harness decides stream and order.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/device.h"

namespace assay {

// state: what bind made; data: the operands' pointers in the problem's order, then the workspace,
// then the prepared memory (null where there is none). Returns 0, or a code that the record shows.
using HostFunction = int (*)(const void* state, void* const* data);

// Why a step's function has just returned non-zero, asked in the thread that called it; empty: no
// more is known.
using StepReason = std::string (*)(const void* state);

struct HostStep {
  HostFunction function = nullptr;
  std::shared_ptr<const void> state;
  StepReason reason = nullptr;  // May be null.
};

// Host code of a library that enqueues on the stream it is given. Returns as a HostFunction does.
using StreamFunction = int (*)(const void* state, void* const* data, void* native_stream);

struct StreamStep {
  StreamFunction function = nullptr;
  std::shared_ptr<const void> state;
  StepReason reason = nullptr;  // May be null.
};

// A parameter of device code: a value, or one of the plan's pointers, or something made of one (a
// tensor map), made again when the pointer changes.
struct DeviceParameter {
  static constexpr size_t kMostBytes = 128;
  alignas(64) std::array<std::byte, kMostBytes> bytes{};  // What the launch reads.
  int place = -1;                                         // Among the plan's data; -1: a value.
  // Writes `bytes` for a pointer; null: the pointer itself. Returns 0, or the driver's code.
  std::function<int(void* pointer, std::span<std::byte> bytes)> encode;

  template <class T>
  static DeviceParameter value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMostBytes);
    DeviceParameter parameter;
    std::memcpy(parameter.bytes.data(), &value, sizeof value);
    return parameter;
  }
  static DeviceParameter pointer(int place) {
    DeviceParameter parameter;
    parameter.place = place;
    return parameter;
  }
};

// Device code with its geometry: launching it runs no host code of the kernel's author.
struct DeviceStep {
  std::shared_ptr<const void> code;  // Keeps the function loaded.
  void* function = nullptr;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  uint32_t shared_bytes = 0;
  std::vector<DeviceParameter> parameters;
};

using Step = std::variant<HostStep, StreamStep, DeviceStep>;

enum class Dependency : uint8_t { full, programmatic };

class Plan {
 public:
  Plan() = default;
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;

  // No allocation, no lock, no look-up unless it fails. Reports the enqueueing only; a step's own
  // non-zero code is ErrorCode::failed. programmatic is refused (unsupported) by a kernel that does
  // not declare it.
  Status launch(Stream& stream, Dependency dependency = Dependency::full) noexcept;

  // Same problem, new pointers, one per operand. Refused, and nothing changed, if a prepared
  // operand would change or an address breaks the alignment that the problem promised.
  Status rebind(std::span<void* const> data) noexcept;

  std::span<const Step> steps() const { return steps_; }
  // What steps are given: operands, workspace, prepared memory.
  std::span<void* const> data() const { return data_; }
  size_t prepared_bytes() const { return prepared_bytes_; }
  double prepare_seconds() const { return prepare_seconds_; }

 private:
  friend class Kernel;
  Status fill_parameters();  // From data_.

  std::vector<Step> steps_;
  std::vector<std::vector<void*>> parameters_;  // Of each device step; empty for the others.
  std::vector<void*> data_;                     // Operands, workspace, prepared.
  struct Promise {
    size_t alignment = 1;
    bool fixed = false;  // Was prepared: its address stays.
  };
  std::vector<Promise> promises_;  // One per operand.
  bool dependent_launch_ = false;
  std::vector<std::shared_ptr<const void>> keep_;  // Code, prepared memory, plug-in; never tensors.
  size_t prepared_bytes_ = 0;
  double prepare_seconds_ = 0;
};

}  // namespace assay
