#include "call.h"

#include "assay/base/dynamic_library.h"

namespace assay::cpp_source {
namespace {

using Call = int(const void* slots, void* const* data);

}  // namespace

Result<Slot> slot_of(const CallValues& call, const std::string& name) {
  ASSAY_TRY(const ArgumentValue value, input::argument_value(call, name));
  switch (value.kind) {
    case ArgumentValue::Kind::pointer:
      return Slot{.integer = value.place};
    case ArgumentValue::Kind::tensor_map:
      break;  // Refused where the entry was read.
    case ArgumentValue::Kind::integer:
      return Slot{.integer = value.integer};
    case ArgumentValue::Kind::real:
      return Slot{.real = value.real};
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
