#pragma once

// What a kernel asks of a problem: data, matched by the catalog before any code of a family runs.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json_fwd.h"
#include "assay/base/result.h"
#include "assay/device/target.h"
#include "assay/kernel/refusals.h"
#include "assay/op/problem.h"
#include "assay/tensor/dtype.h"

namespace assay {

// Which of an operand's last two dimensions is contiguous.
enum class Major : uint8_t { any, row, column };
std::string_view to_string(Major major);

// What a kernel asks of one operand.
struct OperandRule {
  std::string role;
  std::vector<DType> dtypes;  // Any of these.
  Major major = Major::any;   // any: strides are not looked at.
  int64_t divisibility = 1;   // Size of the contiguous dimension is a multiple of this.
  int64_t alignment = 1;      // Bytes promised for the first element and every leading stride.
  bool prepared = false;      // The kernel packs it once: the problem must declare it constant.

  bool operator==(const OperandRule&) const = default;
};

// What a kernel asks of a problem. Shared by all rows of a family that ask the same, so that a
// problem is matched against it once and not once per row.
struct ProblemRule {
  std::string operation = default_operation_name();
  std::vector<OperandRule> operands;  // Operands of the problem without a rule are refused.
  std::vector<DType> accumulate;      // Empty: any.
  // Those that it takes: empty, no epilogue alone; "none" may be one of them. Steps: besides these
  // and none, every chain of such.
  std::vector<std::string> epilogues, epilogue_steps;
  bool batch = true;            // More than one along the operation's batch (op/words.h).
  bool scalars = false;         // Any value of the operation's scalars; else their plain ones.
  std::vector<Target> targets;  // Any of these; empty: anywhere.

  // Takes every chain of these steps, with operands of these types for those that bring one.
  void take_steps(std::span<const std::string_view> steps,
                  std::span<const std::string_view> with_operand, const std::vector<DType>& dtypes);

  const OperandRule* find_operand(std::string_view role) const;
  bool takes_epilogue(std::string_view epilogue) const;  // "": none.
  bool for_gpus_alone() const;                           // Names targets, and each is a GPU.

  // Every reason why the problem, or the target, does not fit; either may be null.
  Refusals match(const Problem* problem, const Target* target) const;
  // Fails for epilogues that nothing could prove (op/operation.h). Of an operation that is not
  // known: for none.
  Status check_epilogues() const;
  Json to_json() const;
  static Result<ProblemRule> from_json(const Json& json);
  bool operator==(const ProblemRule&) const = default;

 private:
  static std::string default_operation_name();  // Of op/operation.h, which is not included here.
};

}  // namespace assay
