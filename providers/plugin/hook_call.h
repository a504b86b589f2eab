#pragma once

// A call of a hook: a row and a problem as the C ABI tells them, and what the hook answered.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/kernel/family.h"
#include "assay/kernel/plugin_abi.h"
#include "assay/tensor/view.h"

namespace assay::plugin {

class HookCall {
 public:
  struct Given {
    const void* self = nullptr;
    std::string kernel, target;
    KernelMetadata row;
    Problem problem;
    int threads = 0;
    uint64_t workspace_bytes = 0, prepared_bytes = 0;
  };
  // Errors: an operand that no DLTensor can say.
  static Result<std::shared_ptr<HookCall>> create(Given given);
  HookCall(const HookCall&) = delete;
  HookCall& operator=(const HookCall&) = delete;

  // For prepare: the memory to write, and where the constant operands lie.
  void show_data(void* prepared, std::span<void* const> data);

  // Errors: what the hook returned, with the sentence that it left; what it did with the callbacks
  // that nobody may.
  Status run(int (*hook)(const AssayCall*), std::string_view name);

  Refusals& refusals() { return refusals_; }
  // Each once. They have the call as their own: it lives as long as they do.
  static std::vector<Step> take_steps(const std::shared_ptr<HookCall>& call);

 private:
  explicit HookCall(Given given);
  Status fill();
  AssayValue value_of(const std::string& name, const Value& value) const;
  void add_step(const AssayHostStep* step);

  Given given_;
  AssayCall call_{};
  AssayProblem problem_{};
  std::vector<TensorView> views_;
  std::vector<AssayOperand> operands_;
  std::vector<AssayValue> values_;  // Dimensions, attributes, tunables.
  std::vector<const AssayOperand*> operand_list_;
  std::vector<const AssayValue*> value_list_;

  std::string sentence_, misuse_;
  Refusals refusals_;
  std::vector<AssayHostStep> steps_;
};

}  // namespace assay::plugin
