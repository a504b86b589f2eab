#include "hook_call.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "assay/base/text.h"
#include "assay/tensor/dlpack.h"

namespace assay::plugin {
namespace {

constexpr size_t kMostTextBytes = 4096;

HookCall& self_of(const AssayCall* call) { return *static_cast<HookCall*>(call->host); }

std::string text_of(const char* text, std::string_view otherwise) {
  return text == nullptr ? std::string(otherwise) : sanitize({text, strnlen(text, kMostTextBytes)});
}

uint32_t access_of(Access access) {
  return access == Access::read    ? ASSAY_ACCESS_READ
         : access == Access::write ? ASSAY_ACCESS_WRITE
                                   : ASSAY_ACCESS_READ_WRITE;
}

}  // namespace

Result<std::shared_ptr<HookCall>> HookCall::create(Given given) {
  std::shared_ptr<HookCall> call(new HookCall(std::move(given)));
  ASSAY_TRY(call->fill());
  return call;
}

HookCall::HookCall(Given given) : given_(std::move(given)) {}

// Texts and arrays are those of the problem and the row, which are kept and never change.
AssayValue HookCall::value_of(const std::string& name, const Value& value) const {
  AssayValue out{};
  out.struct_bytes = sizeof out;
  out.name = name.c_str();
  if (const auto* truth = std::get_if<bool>(&value)) {
    out.kind = ASSAY_VALUE_TRUTH;
    out.integer = *truth ? 1 : 0;
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    out.kind = ASSAY_VALUE_INTEGER;
    out.integer = *integer;
  } else if (const auto* real = std::get_if<double>(&value)) {
    out.kind = ASSAY_VALUE_REAL;
    out.real = *real;
  } else {
    out.kind = ASSAY_VALUE_TEXT;
    out.text = std::get<std::string>(value).c_str();
  }
  return out;
}

Status HookCall::fill() {
  const Problem& problem = given_.problem;
  const auto operands = problem.operands();
  views_.reserve(operands.size());
  operands_.reserve(operands.size());
  for (const Operand& operand : operands) {
    TensorView& view = views_.emplace_back();
    if (operand.sizes.size() > TensorView::kMaxRank ||
        operand.strides.size() != operand.sizes.size())
      return fail(ErrorCode::unsupported, "operand {} has more dimensions than a plug-in is told",
                  operand.role);
    view.dtype = operand.dtype;
    view.rank = static_cast<int>(operand.sizes.size());
    std::copy(operand.sizes.begin(), operand.sizes.end(), view.size.begin());
    std::copy(operand.strides.begin(), operand.strides.end(), view.stride.begin());
    AssayOperand& told = operands_.emplace_back();
    told.struct_bytes = sizeof told;
    told.access = access_of(operand.access);
    told.role = operand.role.c_str();
    told.alignment = operand.alignment;
    told.constant = operand.lifetime == Lifetime::constant ? 1 : 0;
    ASSAY_TRY(to_dlpack(view, told.tensor));
  }
  for (const auto& [name, size] : problem.dimensions()) values_.push_back(value_of(name, size));
  for (const auto& [name, value] : problem.attributes()) values_.push_back(value_of(name, value));
  const size_t before_tunables = values_.size();
  for (const auto& [name, value] : given_.row.design)
    if (name != "kernel") values_.push_back(value_of(name, value));
  for (const AssayOperand& operand : operands_) operand_list_.push_back(&operand);
  for (const AssayValue& value : values_) value_list_.push_back(&value);

  problem_.struct_bytes = sizeof problem_;
  problem_.operation = problem.operation().c_str();
  problem_.layout = problem.layout().c_str();
  problem_.operand_count = static_cast<uint32_t>(operand_list_.size());
  problem_.operands = operand_list_.data();
  problem_.dimension_count = static_cast<uint32_t>(problem.dimensions().size());
  problem_.dimensions = value_list_.data();
  problem_.attribute_count = static_cast<uint32_t>(problem.attributes().size());
  problem_.attributes = value_list_.data() + problem_.dimension_count;

  call_.struct_bytes = sizeof call_;
  call_.threads = static_cast<uint32_t>(given_.threads);
  call_.self = given_.self;
  call_.kernel = given_.kernel.c_str();
  call_.target = given_.target.c_str();
  call_.problem = &problem_;
  call_.tunables = value_list_.data() + before_tunables;
  call_.tunable_count = static_cast<uint32_t>(values_.size() - before_tunables);
  call_.workspace_bytes = given_.workspace_bytes;
  call_.prepared_bytes = given_.prepared_bytes;
  call_.host = this;
  call_.fail = [](const AssayCall* call, const char* sentence) {
    self_of(call).sentence_ = text_of(sentence, "no reason given");
  };
  call_.refuse = [](const AssayCall* call, const char* reason, const char* sentence) {
    const std::string word = text_of(reason, "none");
    const auto known = parse_reason(word);
    if (!known) self_of(call).misuse_ = fmt::format("refused for '{}', which is no reason", word);
    self_of(call).refusals_.add(known.value_or(Reason::other),
                                text_of(sentence, "it gives no sentence"));
  };
  call_.add_step = [](const AssayCall* call, const AssayHostStep* step) {
    self_of(call).add_step(step);
  };
  return {};
}

void HookCall::show_data(void* prepared, std::span<void* const> data) {
  call_.prepared = prepared;
  for (size_t i = 0; i < operands_.size() && i < data.size(); ++i)
    if (operands_[i].constant != 0) operands_[i].tensor.data = data[i];
}

void HookCall::add_step(const AssayHostStep* step) {
  if (step == nullptr)
    misuse_ = "added a step that is null";
  else if (step->kind == ASSAY_STEP_DEVICE)
    misuse_ = "added a step for a device; this version launches host steps alone";
  else if (step->kind != ASSAY_STEP_HOST)
    misuse_ = fmt::format("added a step of kind {}; a host step is of kind {}", step->kind,
                          static_cast<int>(ASSAY_STEP_HOST));
  else if (step->struct_bytes < sizeof *step)
    misuse_ = fmt::format("added a step of {} bytes; an AssayHostStep has {}", step->struct_bytes,
                          sizeof *step);
  else if (step->function == nullptr)
    misuse_ = "added a step without a function";
  else
    steps_.push_back(*step);
}

Status HookCall::run(int (*hook)(const AssayCall*), std::string_view name) {
  const int code = hook(&call_);
  if (!misuse_.empty()) return fail(ErrorCode::failed, "{} of {} {}", name, given_.kernel, misuse_);
  if (code == 0) return {};
  return fail(ErrorCode::failed, "{} of {} returned {}{}{}", name, given_.kernel, code,
              sentence_.empty() ? "" : ": ", sentence_);
}

std::vector<Step> HookCall::take_steps(const std::shared_ptr<HookCall>& call) {
  std::vector<Step> steps;
  for (const AssayHostStep& step : std::exchange(call->steps_, {})) {
    const auto release = [call, release = step.release](const void* state) {
      if (release != nullptr) release(const_cast<void*>(state));
    };
    steps.push_back(HostStep{step.function, std::shared_ptr<const void>(step.state, release)});
  }
  return steps;
}

}  // namespace assay::plugin
