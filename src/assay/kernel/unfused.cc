#include "assay/kernel/unfused.h"

#include <algorithm>
#include <array>
#include <utility>

#include "assay/op/last_part.h"
#include "assay/op/operation.h"

namespace assay {
namespace {

// Whether the epilogue is none that the routine has itself.
bool runs_behind(const Routine& routine, const Problem& problem) {
  const auto found = problem.attributes().find("epilogue");
  const std::string* epilogue =
      found == problem.attributes().end() ? nullptr : std::get_if<std::string>(&found->second);
  return epilogue != nullptr && !epilogue->empty() &&
         std::ranges::none_of(routine.rules, [&](const ProblemRule& rule) {
           return rule.takes_epilogue(*epilogue);
         });
}

Result<Problem> product_of(const Problem& problem) {
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  return operation->without_last_part(problem);
}

Result<std::shared_ptr<const LastPart>> last_part_of(const Problem& problem) {
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  return operation->last_part(problem);
}

size_t output_of(const Problem& problem) {
  return static_cast<size_t>(
      std::ranges::find_if(problem.operands(),
                           [](const Operand& one) { return one.access != Access::read; }) -
      problem.operands().begin());
}

// Widest alignment that a routine may have been promised for what is its out, and how many operands
// it may have.
constexpr size_t kAlignment = 64, kMostOperands = 8;
size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

struct Unfused {
  HostStep product;
  std::shared_ptr<const LastPart> behind;
  size_t operands = 0;            // Of the product's problem: the first ones of the whole one.
  size_t workspace = 0, out = 0;  // Places in the data.
  size_t own_bytes = 0;           // Of the workspace: the product's; then the sums.

  static int launch(const void* state, void* const* data) {
    const auto& unfused = *static_cast<const Unfused*>(state);
    std::array<void*, kMostOperands + 2> own;
    std::copy_n(data, unfused.operands, own.begin());
    own[unfused.operands] = data[unfused.workspace];
    own[unfused.operands + 1] = data[unfused.workspace + 1];  // What was prepared.
    void* sums = nullptr;
    if (unfused.behind->between_bytes() > 0) {
      sums = static_cast<std::byte*>(data[unfused.workspace]) + unfused.own_bytes;
      own[unfused.out] = sums;
    }
    if (const int status = unfused.product.function(unfused.product.state.get(), own.data());
        status != 0)
      return status;
    unfused.behind->run(data, sums);
    return 0;
  }
};

Result<HostStep> bind(const Routine& routine, const KernelMetadata& row, const Binding& binding) {
  ASSAY_TRY(const Problem product, product_of(binding.problem));
  ASSAY_TRY(auto behind, last_part_of(binding.problem));
  if (product.operands().size() > kMostOperands)
    return fail(ErrorCode::unsupported, "{}: more than {} operands", product.name(), kMostOperands);
  const size_t own_bytes =
      routine.workspace_bytes ? aligned(routine.workspace_bytes(row, product, binding.threads)) : 0;
  Unfused unfused{.product = {},
                  .behind = std::move(behind),
                  .operands = product.operands().size(),
                  .workspace = binding.problem.operands().size(),
                  .out = output_of(product),
                  .own_bytes = own_bytes};
  std::vector<void*> data(binding.data.begin(),
                          binding.data.begin() + static_cast<std::ptrdiff_t>(unfused.operands));
  if (unfused.behind->between_bytes() > 0)
    data[unfused.out] = static_cast<std::byte*>(binding.workspace) + own_bytes;
  const Binding of_product{.problem = product,
                           .data = data,
                           .workspace = binding.workspace,
                           .workspace_bytes = own_bytes,
                           .prepared = binding.prepared,
                           .artifact = binding.artifact,
                           .device = binding.device,
                           .threads = binding.threads};
  ASSAY_TRY(unfused.product, routine.bind(row, of_product));
  return HostStep{&Unfused::launch, std::make_shared<const Unfused>(std::move(unfused))};
}

}  // namespace

Routine with_epilogue_behind(Routine routine) {
  Routine made = routine;
  bool takes = false;
  for (ProblemRule& rule : made.rules) {
    const OperandRule* out = rule.find_operand("out");
    const bool floats = out != nullptr && std::ranges::all_of(out->dtypes, [](DType dtype) {
                          return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16;
                        });
    const auto operation = find_operation(rule.operation);
    const Operation::StepNames steps =
        operation ? (*operation)->step_names() : Operation::StepNames();
    if (steps.all.empty() || !floats) continue;
    rule.take_steps(steps.all, steps.with_operand, {DType::f32, DType::bf16, DType::f16});
    takes = true;
  }
  if (!takes) return routine;
  if (routine.check)
    made.check = [routine](const KernelMetadata& row, const Problem& problem, Refusals& refusals) {
      if (!runs_behind(routine, problem)) return routine.check(row, problem, refusals);
      const auto product = product_of(problem);
      if (!product) return refusals.add(Reason::other, product.error().message);
      routine.check(row, *product, refusals);
    };
  made.workspace_bytes = [routine](const KernelMetadata& row, const Problem& problem,
                                   int threads) -> size_t {
    const auto own = [&](const Problem& of) {
      return routine.workspace_bytes ? routine.workspace_bytes(row, of, threads) : 0;
    };
    if (!runs_behind(routine, problem)) return own(problem);
    const auto product = product_of(problem);
    const auto behind = last_part_of(problem);
    if (!product || !behind) return 0;
    const size_t between = (*behind)->between_bytes();
    return between > 0 ? aligned(own(*product)) + between : own(*product);
  };
  if (routine.prepare)
    made.prepare = [routine](const KernelMetadata& row, const Binding& binding,
                             Prepared& prepared) -> Status {
      if (!runs_behind(routine, binding.problem)) return routine.prepare(row, binding, prepared);
      ASSAY_TRY(const Problem product, product_of(binding.problem));
      const Binding of_product{.problem = product,
                               .data = binding.data.first(product.operands().size()),
                               .workspace = binding.workspace,
                               .workspace_bytes = binding.workspace_bytes,
                               .prepared = binding.prepared,
                               .artifact = binding.artifact,
                               .device = binding.device,
                               .threads = binding.threads};
      return routine.prepare(row, of_product, prepared);
    };
  made.bind = [routine](const KernelMetadata& row, const Binding& binding) {
    return runs_behind(routine, binding.problem) ? bind(routine, row, binding)
                                                 : routine.bind(row, binding);
  };
  return made;
}

}  // namespace assay
