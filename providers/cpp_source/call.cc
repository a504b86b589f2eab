#include "call.h"

#include <algorithm>

#include "assay/base/dynamic_library.h"
#include "assay/input/manifest.h"

namespace assay::cpp_source {
namespace {

using Call = int(const void* slots, void* const* data);

// An operand's dimensions in the order of its strides.
std::string_view dimensions_of(std::string_view role) {
  return role == "a" ? "lmk" : role == "b" ? "lkn" : "lmn";
}

// a_m and the like.
int64_t stride(const Operand& operand, std::string_view dimension) {
  const size_t place = dimensions_of(operand.role).find(dimension);
  return place < operand.strides.size() ? operand.strides[place] : 0;
}

int64_t leading(const Operand& operand) {
  const auto& strides = operand.strides;
  return std::max(strides[strides.size() - 2], strides[strides.size() - 1]);
}

double scalar(const Problem& problem, std::string_view name) {
  const auto found = problem.attributes().find(name);
  const double* value =
      found == problem.attributes().end() ? nullptr : std::get_if<double>(&found->second);
  return value != nullptr ? *value : 0.0;
}

Result<Slot> slot_of_tunable(const Design& design, const std::string& name) {
  if (const Value* value = design.find(name)) {
    if (const auto* real = std::get_if<double>(value)) return Slot{.real = *real};
    if (const auto* truth = std::get_if<bool>(value)) return Slot{.integer = *truth ? 1 : 0};
    if (const auto* integer = std::get_if<int64_t>(value)) return Slot{.integer = *integer};
  }
  return fail(ErrorCode::internal, "'{}' has no value", name);
}

}  // namespace

Result<Slot> slot_of(const CallValues& call, const std::string& name) {
  using Kind = input::Argument::Kind;
  const auto argument = input::find_argument(call.entry, name);
  if (!argument) return fail(ErrorCode::internal, "'{}' means nothing", name);
  const Problem& problem = call.problem;
  const auto operands = problem.operands();
  const Operand* operand = problem.find_operand(argument->operand);
  const auto places = static_cast<int64_t>(operands.size());
  switch (argument->kind) {
    case Kind::operand:
      return Slot{.integer = operand == nullptr ? -1 : operand - operands.data()};
    case Kind::workspace:
      return Slot{.integer = places};
    case Kind::prepared:
      return Slot{.integer = places + 1};
    case Kind::size:
      return Slot{.integer = problem.dimension(argument->dimension)};
    case Kind::stride:
      return Slot{.integer = operand == nullptr ? 0 : stride(*operand, argument->dimension)};
    case Kind::leading:
      return Slot{.integer = operand == nullptr ? 0 : leading(*operand)};
    case Kind::scalar:
      return Slot{.real = scalar(problem, name)};
    case Kind::workspace_bytes:
      return Slot{.integer = static_cast<int64_t>(call.workspace_bytes)};
    case Kind::threads:
      return Slot{.integer = call.threads};
    case Kind::tunable:
      return slot_of_tunable(call.row.design, name);
  }
  return fail(ErrorCode::internal, "'{}' has no value", name);
}

Result<HostStep> bind_call(const CallBinding& call) {
  const std::string file = call.binding.artifact.file.string();
  if (file.empty())
    return fail(ErrorCode::internal, "{}: the artifact has no file", call.entry.name);
  // Stays mapped: a kernel may have started threads. The loader maps a file once.
  const auto library = DynamicLibrary::open(file, {.deep_bind = false});
  if (!library)
    return fail(ErrorCode::build_failed, "{}: what was compiled cannot be loaded: {}",
                call.entry.name, library.error().message);
  Call* function = nullptr;
  ASSAY_TRY(library->load(call.symbol, function));
  const CallValues values{call.entry, call.row, call.binding.problem, call.binding.threads,
                          call.workspace_bytes};
  auto slots = std::make_shared<std::vector<Slot>>();
  for (const std::string& name : call.args) {
    ASSAY_TRY(const Slot slot, slot_of(values, name));
    slots->push_back(slot);
  }
  return HostStep{function, std::shared_ptr<const void>(slots, slots->data())};
}

}  // namespace assay::cpp_source
