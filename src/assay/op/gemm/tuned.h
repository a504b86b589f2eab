#pragma once

// A tuned table (select/tuned_table.h) by this operation's own arguments. Templates, since
// operations know nothing of tables:
//
//   auto table = TunedTable::load("decode.assay", catalog);
//   auto plan = gemm::plan(*table, {.a = a, .b = b, .out = out, .constant = {"b"}}, device);
//   plan->launch(stream);
//   gemm::rebind(*plan, {.a = next, .b = b, .out = out});

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

// Of the problem's operands, in their order; null where the arguments have none.
std::vector<void*> pointers_of(const Problem& problem, const Arguments& arguments);

// The same without a problem, for the hot path: into `data`, which has room for them; how many.
// with_c: the problem has such an operand.
inline constexpr size_t kMostPointers = 16;
size_t pointers_of(const Arguments& arguments, bool with_c,
                   std::array<void*, kMostPointers>& data) noexcept;
// How many steps of the epilogue have an operand.
size_t operands_of_steps(const Arguments& arguments) noexcept;

// The first choice that this device can run, compiled, prepared and bound, as TunedTable::plan().
template <class Table, class Device>
auto plan(const Table& table, const Arguments& arguments, Device& device)
    -> decltype(table.plan({std::declval<Problem>(), {}}, device)) {
  ASSAY_TRY(Problem made, problem(arguments));
  std::vector<void*> data = pointers_of(made, arguments);
  return table.plan({std::move(made), std::move(data)}, device);
}

// Same problem, new pointers; see Plan::rebind. Of arguments only the pointers are looked at.
template <class Plan>
Status rebind(Plan& plan, const Arguments& arguments) noexcept {
  // A plan's own data ends with workspace and panels.
  const size_t operands = plan.plan().data().size() - 2;
  const bool with_c = operands > 3 + operands_of_steps(arguments);
  std::array<void*, kMostPointers> data = {};
  const size_t count = pointers_of(arguments, with_c, data);
  return plan.rebind(std::span<void* const>(data).first(count));
}

}  // namespace assay::gemm
