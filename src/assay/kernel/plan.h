#pragma once

// A plan: a kernel bound to an artifact and arguments, ready to launch again and again with next to
// no host cost. What runs is data (steps), so the harness decides stream and order.

#include <cstddef>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/device.h"

namespace assay {

// state: what bind made; data: the operands' pointers in the problem's order, then the workspace,
// then the prepared memory (null where there is none). Returns 0, or a code that the record shows.
using HostFunction = int (*)(const void* state, void* const* data);

struct HostStep {
  HostFunction function = nullptr;
  std::shared_ptr<const void> state;
};

// Part 3 adds device steps (function, grid, block, cluster, shared bytes, parameters).
using Step = std::variant<HostStep>;

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
  std::vector<Step> steps_;
  std::vector<void*> data_;  // Operands, workspace, prepared.
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
