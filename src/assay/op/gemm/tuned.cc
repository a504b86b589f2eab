#include "assay/op/gemm/tuned.h"

#include <algorithm>

#include "assay/op/gemm/epilogue.h"

namespace assay::gemm {
namespace {

static_assert(4 + Epilogue::kMostSteps <= kMostPointers);

// Of an operand that a step of the epilogue brings.
void* pointer_of(const Arguments& arguments, std::string_view role) {
  const auto found = arguments.epilogue_operands.find(role);
  return found == arguments.epilogue_operands.end() ? nullptr : found->second.data;
}

// Calls `take` with the pointer of each step that has an operand.
template <class Take>
void each_step(const Arguments& arguments, const Take& take) {
  for (std::string_view rest = arguments.epilogue; !rest.empty();) {
    const std::string_view step = rest.substr(0, rest.find('+'));
    const auto found = arguments.epilogue_operands.find(step);
    if (found != arguments.epilogue_operands.end()) take(found->second.data);
    rest.remove_prefix(std::min(rest.size(), step.size() + 1));
  }
}

}  // namespace

std::vector<void*> pointers_of(const Problem& problem, const Arguments& arguments) {
  std::vector<void*> data;
  for (const Operand& operand : problem.operands())
    data.push_back(operand.role == "a"     ? arguments.a.data
                   : operand.role == "b"   ? arguments.b.data
                   : operand.role == "out" ? arguments.out.data
                   : operand.role == "c"   ? (arguments.c ? arguments.c->data : nullptr)
                                           : pointer_of(arguments, operand.role));
  return data;
}

size_t operands_of_steps(const Arguments& arguments) noexcept {
  size_t steps = 0;
  each_step(arguments, [&](void*) { steps += steps < Epilogue::kMostSteps ? 1 : 0; });
  return steps;
}

size_t pointers_of(const Arguments& arguments, bool with_c,
                   std::array<void*, kMostPointers>& data) noexcept {
  // In the order of a problem's operands.
  data = {arguments.a.data, arguments.b.data, arguments.out.data};
  size_t count = 3;
  if (with_c) data[count++] = arguments.c ? arguments.c->data : nullptr;
  const size_t most = count + Epilogue::kMostSteps;
  each_step(arguments, [&](void* pointer) {
    if (count < most) data[count++] = pointer;
  });
  return count;
}

}  // namespace assay::gemm
